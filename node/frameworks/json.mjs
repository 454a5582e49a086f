import json from './json.js';

export const { IdText, jsonIds, parseJson } = json;
