import type { Api } from '../api/helpers.ts';

/** What a statement finds in the database of an API, as its owner. */
export const rowsOf = async (api: Api, statement: string): Promise<object[]> =>
  (await api.lanefold.database.pool.query<object>(statement)).rows;
