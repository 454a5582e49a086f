import * as orm from 'drizzle-orm';
import * as core from 'drizzle-orm/pg-core';
import types from './drizzle-types.js';

export const { createdBetween, flakeId, flakeIdUuid } = types.defineDrizzle(core, orm);
