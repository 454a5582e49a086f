// Fetches the WebAssembly file of the package, which bundlers copy next to their output.

export async function fetched(url) {
  const response = await fetch(url);
  const type = response.headers.get('content-type') ?? 'unknown';
  // Some servers return a page instead of a missing file.
  if (response.ok && !type.startsWith('text/html')) return response;
  throw new Error(
    `flakeid-wasm cannot load ${url}: the server responded with the status ${response.status} and the `
      + `type ${type}; let the bundler copy this file of the package, or pass its address to init`,
  );
}
