// The package under test. The native package and the WebAssembly package have the same interface.
const name = process.env.FLAKEID_PACKAGE ?? 'flakeid-core';

export default await import(name);
export { name };
