// Tests of the types of the modules through require: this file is compiled, but never run.

import drizzle = require('flakeid-core/drizzle');
import json = require('flakeid-core/json');
import kysely = require('flakeid-core/kysely');
import prisma = require('flakeid-core/prisma');
import typeorm = require('flakeid-core/typeorm');
import zod = require('flakeid-core/zod');

const id: bigint = zod.flakeId().parse(new json.IdText().write(1n));
drizzle.flakeId('id').primaryKey();
new kysely.FlakeIdPlugin({ columns: [] });
typeorm.flakeId().transformer.to(id);
prisma.createdBetween({ from: 0 });
