import { LanefoldError } from '../../errors.ts';

interface Fault {
  code?: string;
  message?: string;
  hint?: string;
  cause?: unknown;
  meta?: { driverAdapterError?: { cause?: { originalCode?: string; originalMessage?: string; hint?: string } } };
}

/** The codes of Node are words, and those of Prisma begin like `P2`. */
const sqlState = /^(?!P[1-9])(?=.*\d)[0-9A-Z]{5}$/;

/** The fault as PostgreSQL described it, out of what the caller's library wraps around it. */
export function postgresFault(error: unknown): unknown {
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
