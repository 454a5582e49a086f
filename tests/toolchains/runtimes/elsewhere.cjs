// Pretends that Node runs on a processor for which there is no add-on.
Object.defineProperty(process, 'arch', { value: 'riscv64' });
process.env.WITHOUT_ADDON = 'true';
