// Next.js copies the package with its add-on into a standalone application.
export default { output: 'standalone', serverExternalPackages: ['flakeid-core'] };
