// The package under test: the native one and the WebAssembly one have the same interface.
const name = process.env.FLAKEID_PACKAGE ?? 'flakeid-core';

export default await import(name);
export { name };
