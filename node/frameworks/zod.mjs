import { z } from 'zod';
import types from './zod-types.js';

export const { flakeId } = types.defineZod(z);
