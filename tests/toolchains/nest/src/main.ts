import 'reflect-metadata';

import { Controller, Get, Inject, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

import { Ids } from './ids.js';

@Controller()
class Orders {
  readonly #ids: Ids;

  constructor(@Inject(Ids) ids: Ids) {
    this.#ids = ids;
  }

  @Get()
  create(): { id: string } {
    return { id: `${this.#ids.next()}` };
  }
}

@Module({ controllers: [Orders], providers: [Ids] })
class Application {}

const application = await NestFactory.create(Application, { logger: ['error', 'warn'] });
application.enableShutdownHooks();
await application.listen(0, '127.0.0.1');
console.log(await application.getUrl());
