/// <reference types="node" />

export * from './api';

/** Eight bytes, the most significant first. */
export function toBuffer(id: import('./api').IdInput): Buffer;
export function fromBuffer(buffer: Buffer): bigint;
