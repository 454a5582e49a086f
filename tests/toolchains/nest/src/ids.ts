// The generator as a provider of Nest, which closes it when the application ends.

import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Generator } from 'flakeid-core';

@Injectable()
export class Ids implements OnModuleInit, OnModuleDestroy {
  #generator?: Generator;

  async onModuleInit(): Promise<void> {
    this.#generator = await Generator.lease(process.env.FLAKEID_STORE ?? '');
  }

  async onModuleDestroy(): Promise<void> {
    await this.#generator?.close();
  }

  next(): bigint {
    if (this.#generator === undefined) throw new Error('the application has not started');
    return this.#generator.nextId();
  }
}
