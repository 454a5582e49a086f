import * as typeorm from 'typeorm';
import types from './typeorm-types.js';

export const { createdBetween, flakeId, flakeIdUuid } = types.defineTypeorm(typeorm);
