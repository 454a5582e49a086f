import type {
  ColumnType,
  ExpressionBuilder,
  ExpressionWrapper,
  KyselyPlugin,
  PluginTransformQueryArgs,
  PluginTransformResultArgs,
  QueryResult,
  ReferenceExpression,
  RootOperationNode,
  SqlBool,
  UnknownRow,
} from 'kysely';
import type { CreatedBetween } from './bounds.js';

export type { CreatedBetween } from './bounds.js';

/** A column of IDs in the interface of a table. */
export type FlakeId = ColumnType<bigint, bigint, bigint>;

/** Makes bigints of the strings that drivers give for columns of 64 bits. */
export class FlakeIdPlugin implements KyselyPlugin {
  /** @param options `columns`: the names of the columns with IDs, in results, of all tables. */
  constructor(options: { columns: readonly string[] });
  transformQuery(args: PluginTransformQueryArgs): RootOperationNode;
  transformResult(args: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>>;
}

/** A condition: the rows made in that time. `.where((eb) => createdBetween(eb, 'id', { from }))`. */
export function createdBetween<DB, TB extends keyof DB>(
  eb: ExpressionBuilder<DB, TB>,
  column: ReferenceExpression<DB, TB>,
  bounds?: CreatedBetween,
): ExpressionWrapper<DB, TB, SqlBool>;
