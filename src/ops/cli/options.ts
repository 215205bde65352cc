import { InvalidArgumentError, Option, type Command } from 'commander';
import { readJson } from '../../base/common/json.ts';
import { readCall } from '../../base/checks/call-name.ts';
import type { LanefoldError } from '../../base/errors.ts';
import { UsageError } from './errors.ts';
import { userInfo } from 'node:os';

/** Options of every command that needs the database. */
export interface ConnectionOptions {
  databaseUrl?: string;
  redisUrl?: string;
  /** Folder of the embedded PostgreSQL. */
  dir: string;
}

export const withDatabase = (command: Command): Command =>
  command
    .addOption(new Option('--database-url <url>', 'PostgreSQL to use').env('DATABASE_URL'))
    .addOption(
      new Option('--dir <folder>', 'folder of the embedded PostgreSQL').env('LANEFOLD_DIR').default('.lanefold'),
    );

export const withRedis = (command: Command): Command =>
  command.addOption(new Option('--redis-url <url>', 'Redis for the queue, instead of PostgreSQL').env('REDIS_URL'));

export const withQueue = (command: Command): Command => withRedis(withDatabase(command));

export const withAgents = (command: Command): Command =>
  command.addOption(
    new Option('--agents <file>', 'module that default-exports agents, or defineLanefold({…})').env('LANEFOLD_AGENTS'),
  );

export const withJson = (command: Command): Command => command.option('--json', 'machine-readable output on stdout');

/** Parses a whole number of at least `minimum`, and at most `maximum`. */
export const wholeNumber =
  (minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const value = /^-?\d+$/.test(text) ? Number(text) : NaN;
    if (Number.isSafeInteger(value) && value >= minimum && value <= maximum) return value;
    const range = maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
    throw new InvalidArgumentError(`It must be a whole number ${range}.`);
  };

export const portNumber = wholeNumber(0, 65_535);

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a duration such as `30d`, `12h`, `15m` or `90s`; in ms. */
export function duration(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count && unit && Number(count) > 0) return Number(count) * unitMs[unit as keyof typeof unitMs];
  throw new InvalidArgumentError('Write it as a number and a unit: 90s, 15m, 12h or 30d.');
}

/** Parses a JSON object. */
export function parseJsonObject(text: string): object {
  const read = readJson(text);
  if (!read.ok && read.kind !== 'syntax') throw new InvalidArgumentError(read.problem);
  const value = read.ok ? read.value : undefined;
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value;
  throw new InvalidArgumentError('It must be a JSON object.');
}

/** Checks the name of a tool call before anything is started. @throws UsageError */
export function checkCall(call: string): void {
  try {
    readCall(call);
  } catch (error) {
    throw new UsageError((error as LanefoldError).message, 'Pass its round and index, such as 1.0.');
  }
}

/** Reads a payload as JSON, or as plain text if it is not JSON. */
export function toPayload(text: string | undefined): unknown {
  if (text === undefined) return null;
  const read = readJson(text);
  if (read.ok) return read.value;
  if (read.kind === 'syntax') return text;
  throw new UsageError(read.problem, 'Quote the whole payload to send it as text.');
}

/** Who runs a command, for the audit. */
export const actor = (): string => `cli:${userInfo().username}`;
