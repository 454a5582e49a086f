// Runs the module that the address names, in a page and in its worker.

const asked = new URLSearchParams(location.search);
const { run } = await import(asked.get('module'));

async function reported(agent) {
  try {
    return await run(agent, asked);
  } catch (error) {
    return { error: `${error} ${error?.stack}` };
  }
}

if (typeof window === 'undefined') {
  self.postMessage(await reported('worker'));
} else {
  const worker = new Worker(`./page.js${location.search}`, { type: 'module' });
  const heard = new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => resolve({ error: message });
  });
  window.result = await Promise.all([reported('page'), heard]);
}
