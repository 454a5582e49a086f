import prisma from './prisma.js';

export const { createdBetween, flakeIds } = prisma;
