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

/** The type of an ID column in a table's interface. */
export type FlakeId = ColumnType<bigint, bigint, bigint>;

/**
 * A plugin that converts the values of 64-bit columns, which drivers return as strings, to bigints. It
 * also converts the UUIDs that contain IDs, in columns of the type `uuid`.
 */
export class FlakeIdPlugin implements KyselyPlugin {
  /**
   * @param options `columns`: the names of the columns that contain IDs. The names apply to the
   * results of all queries.
   */
  constructor(options: { columns: readonly string[] });
  transformQuery(args: PluginTransformQueryArgs): RootOperationNode;
  transformResult(args: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>>;
}

/**
 * Returns a condition that selects the rows created in a time range. Example:
 * `.where((eb) => createdBetween(eb, 'id', { from }))`.
 */
export function createdBetween<DB, TB extends keyof DB>(
  eb: ExpressionBuilder<DB, TB>,
  column: ReferenceExpression<DB, TB>,
  bounds?: CreatedBetween,
): ExpressionWrapper<DB, TB, SqlBool>;
