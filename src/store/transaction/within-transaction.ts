import { LanefoldError } from '../../errors.ts';
import { fromPostgres } from '../../postgres/errors.ts';
import { adapterOf, type Adapter, type Query } from './adapters.ts';

interface Fault {
  code?: string;
  message?: string;
  hint?: string;
  cause?: unknown;
  meta?: { driverAdapterError?: { cause?: { originalCode?: string; originalMessage?: string; hint?: string } } };
}

/** Tells SQLSTATE from other error codes: those of Node are words, and those of Prisma begin like `P2`. */
const sqlState = /^(?!P[1-9])(?=.*\d)[0-9A-Z]{5}$/;

/** Unwraps the error of PostgreSQL from the error of the caller's library. */
function postgresFault(error: unknown): unknown {
  if (error instanceof LanefoldError) return error;
  const { meta } = error as Fault;
  const told = meta?.driverAdapterError?.cause;
  if (told?.originalCode) {
    const { originalCode: code, originalMessage: message, hint } = told;
    return Object.assign(new Error(message, { cause: error }), { code, ...(hint ? { hint } : {}) });
  }
  for (let fault = error as Fault | undefined; fault; fault = fault.cause as Fault | undefined)
    if (typeof fault === 'object' && sqlState.test(fault.code ?? '')) return fault;
  return error;
}

const savepoint = 'lanefold_call';
/** SQLSTATE of a command that works only in a transaction. */
const noTransaction = '25P01';

/** The last pending call in each transaction. Calls take turns, because concurrent savepoints would undo each other. */
const underWay = new WeakMap<object, Promise<unknown>>();

/**
 * Runs statements in the caller's transaction, one call after the other. Each call takes effect as a whole or not at
 * all: after an error the transaction is as it was before, and the caller may continue with it.
 *
 * @throws LanefoldError `not_a_transaction`, with nothing written
 */
export async function withinTransaction<T>(tx: object, work: (query: Query) => Promise<T>): Promise<T> {
  const adapter = adapterOf(tx);
  if (!adapter) throw notATransaction('is not a transaction of pg, Drizzle, postgres, Kysely or Prisma');
  const before = underWay.get(tx);
  const result = (async () => {
    await before;
    try {
      return await inSavepoint(adapter, tx, work);
    } catch (error) {
      throw fromPostgres(postgresFault(error));
    }
  })();
  underWay.set(
    tx,
    result.catch(() => {}),
  );
  return result;
}

function inSavepoint<T>(adapter: Adapter<object>, tx: object, work: (query: Query) => Promise<T>): Promise<T> {
  const through =
    (client: object): Query =>
    (text, values) =>
      adapter.query(client, text, values);
  if (!adapter.savepoint) return inOwnSavepoint(through(tx), work);
  const result = adapter.savepoint(tx, (inner) => work(through(inner)));
  if (!result) throw notATransaction('is the database, not a transaction of it');
  return result;
}

async function inOwnSavepoint<T>(query: Query, work: (query: Query) => Promise<T>): Promise<T> {
  // PostgreSQL rejects this outside a transaction, even through a pool, so there is no need to inspect the object.
  await query(`savepoint ${savepoint}`, []).catch((error: unknown) => {
    const fault = postgresFault(error) as { code?: string };
    throw fault.code === noTransaction ? notATransaction('has not begun, or is a pool', error) : error;
  });
  try {
    const result = await work(query);
    await query(`release savepoint ${savepoint}`, []);
    return result;
  } catch (error) {
    await query(`rollback to savepoint ${savepoint}`, [])
      .then(() => query(`release savepoint ${savepoint}`, []))
      .catch(() => {});
    throw error;
  }
}

const notATransaction = (why: string, cause?: unknown): LanefoldError =>
  new LanefoldError('not_a_transaction', `tx ${why}, so nothing would be atomic.`, {
    hint: 'Pass the transaction object that your library hands to its callback, or a pg client after begin.',
    cause,
  });
