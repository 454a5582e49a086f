// The tests build the application with and without these settings.
export default process.env.STANDALONE === undefined
  ? {}
  : { output: 'standalone', serverExternalPackages: ['flakeid-core'] };
