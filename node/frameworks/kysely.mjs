import kysely from './kysely.js';

export const { FlakeIdPlugin, createdBetween } = kysely;
