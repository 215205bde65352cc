import { databaseFunctions, type DatabaseFunctions } from './functions.ts';
import type { Database } from '../postgres/pool.ts';

type FunctionName = keyof DatabaseFunctions;
type Takes<Name extends FunctionName> = DatabaseFunctions[Name]['takes'];
type Returns<Name extends FunctionName> = DatabaseFunctions[Name]['returns'];

/** The functions that return a table. */
type TableFunction = {
  [Name in FunctionName]: (typeof databaseFunctions)[Name]['returns'] extends 'rows' ? Name : never;
}[FunctionName];

/**
 * Calls a function of the database in a statement of its own. What a function returns as JSON is `unknown`: the caller
 * says what it is.
 *
 * @param send how the statement is sent, such as `db.queryLocking`
 */
export async function call<Name extends Exclude<FunctionName, TableFunction>>(
  send: Database['query'],
  name: Name,
  args: Takes<Name>,
): Promise<Returns<Name>> {
  const [row] = await send<{ result: Returns<Name> }>(name, databaseFunctions[name].text, inOrder(name, args));
  return row!.result;
}

/** The same for a function that returns a table. */
export function callRows<Name extends TableFunction>(
  send: Database['query'],
  name: Name,
  args: Takes<Name>,
): Promise<Returns<Name>[]> {
  return send<Returns<Name>>(name, databaseFunctions[name].text, inOrder(name, args));
}

/** Named arguments in the order of the function. */
export const inOrder = <Name extends FunctionName>(name: Name, args: Takes<Name>): unknown[] =>
  databaseFunctions[name].takes.map((argument) => (args as Record<string, unknown>)[argument]);
