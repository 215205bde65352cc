import { LanefoldError } from './errors.ts';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseJson } from './common/json.ts';

/** `LANEFOLD_PREPARED_STATEMENTS`; default on. @throws LanefoldError `invalid_input` */
export const preparedStatements = (): boolean => onOrOff('LANEFOLD_PREPARED_STATEMENTS', true);

/** `LANEFOLD_PRIVATE_WEBHOOKS`; default off. @throws LanefoldError `invalid_input` */
export const privateWebhooks = (): boolean => onOrOff('LANEFOLD_PRIVATE_WEBHOOKS', false);

/** The values of a variable that are separated by commas, without blank ones. */
export const listedIn = (name: string): string[] =>
  (process.env[name] ?? '')
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '');

function onOrOff(name: string, otherwise: boolean): boolean {
  const given = process.env[name] || (otherwise ? 'on' : 'off');
  if (['on', 'true', '1'].includes(given)) return true;
  if (['off', 'false', '0'].includes(given)) return false;
  throw new LanefoldError('invalid_input', `${name} must be on or off; got ${JSON.stringify(given)}.`, {
    hint: 'Set it to on or off, or unset it.',
  });
}

/** `LANEFOLD_STOP_GRACE_MS` as the worker option. @throws LanefoldError `invalid_input` */
export function stopGrace(): { stopGraceMs?: number } {
  const given = process.env['LANEFOLD_STOP_GRACE_MS'];
  if (!given) return {};
  if (/^\d+$/.test(given)) return { stopGraceMs: Number(given) };
  throw new LanefoldError(
    'invalid_input',
    `LANEFOLD_STOP_GRACE_MS must be a number of milliseconds; got ${JSON.stringify(given)}.`,
    {
      hint: 'Set it to milliseconds, such as 25000, or unset it.',
    },
  );
}

/**
 * The option, else `LANEFOLD_MAX_CONTEXT_BYTES`, else undefined: the database's default.
 *
 * @throws LanefoldError `invalid_input`
 */
export const maxContextBytes = (option: number | undefined): number | undefined =>
  bytes('maxContextBytes', option, 'LANEFOLD_MAX_CONTEXT_BYTES', 'neither for the default of 33,554,432');

/**
 * The option, else `LANEFOLD_LARGE_CONTENT_BYTES`, else undefined: all stays in the log.
 *
 * @throws LanefoldError `invalid_input`
 */
export const largeContentBytes = (option: number | undefined): number | undefined =>
  bytes('largeContentBytes', option, 'LANEFOLD_LARGE_CONTENT_BYTES', 'neither to keep every text in the log', 4_096);

function bytes(
  name: string,
  option: number | undefined,
  variable: string,
  otherwise: string,
  least = 1_024,
): number | undefined {
  const given = option ?? (process.env[variable] || undefined);
  if (given === undefined) return undefined;
  const count = Number(given);
  if (Number.isInteger(count) && count >= least && count <= 2 ** 27) return count;
  throw new LanefoldError(
    'invalid_input',
    `${name} must be a whole number from ${least.toLocaleString('en')} to 134,217,728; got ${JSON.stringify(given)}.`,
    {
      hint: `Set the option or ${variable}, or ${otherwise}.`,
    },
  );
}

/** The option, else `LANEFOLD_QUEUE_SHARDS`, else 1. @throws LanefoldError `invalid_input` */
export function queueShards(option: number | undefined): number {
  const given = option ?? process.env['LANEFOLD_QUEUE_SHARDS'];
  const shards = Number(given || 1);
  if (Number.isInteger(shards) && shards >= 1 && shards <= 1024) return shards;
  throw new LanefoldError(
    'invalid_input',
    `queueShards must be a whole number from 1 to 1024; got ${JSON.stringify(given)}.`,
    {
      hint: 'Set LANEFOLD_QUEUE_SHARDS to the same number in every process.',
    },
  );
}

/** `LANEFOLD_OTEL`; default off. @throws LanefoldError `invalid_input` */
export const telemetryWanted = (): boolean =>
  ['on', 'true', '1'].includes(oneOf('LANEFOLD_OTEL', ['on', 'off', 'true', 'false', '1', '0'] as const, 'off'));

/** `LANEFOLD_LOG`. @throws LanefoldError `invalid_input` */
export const logFormat = (): 'text' | 'json' => oneOf('LANEFOLD_LOG', ['text', 'json'] as const, 'text');

/** `LANEFOLD_LOG_LEVEL`, where it is set. @throws LanefoldError `invalid_input` */
export const logLevel = () =>
  oneOf('LANEFOLD_LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'] as const, undefined);

function oneOf<Value extends string, Default>(name: string, values: readonly Value[], otherwise: Default) {
  const given = process.env[name];
  if (!given) return otherwise;
  if ((values as readonly string[]).includes(given)) return given as Value;
  throw new LanefoldError(
    'invalid_input',
    `${name} must be one of ${values.join(', ')}; got ${JSON.stringify(given)}.`,
    {
      hint: 'Set it to one of these, or unset it.',
    },
  );
}

/**
 * The folder of package.json: two levels above dist/src in a build, one above src in a checkout. Without one above it, as in
 * a bundle of a service, the folder of this file: what is read from there fails by its path.
 */
export const packageRoot = (() => {
  const own = path.dirname(fileURLToPath(import.meta.url));
  let folder = own;
  while (!existsSync(path.join(folder, 'package.json'))) {
    const above = path.dirname(folder);
    if (above === folder) return own;
    folder = above;
  }
  return folder;
})();

export const packageVersion = (): string =>
  (parseJson(readFileSync(path.join(packageRoot, 'package.json'), 'utf8')) as { version: string }).version;
