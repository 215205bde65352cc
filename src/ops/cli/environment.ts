import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { UsageError } from './errors.ts';

/**
 * Sets the variables of the file `.env` in the current folder, except those that are already set. Our own variables
 * count as unset if they are empty, because compose files and scripts turn an unset variable into an empty one.
 *
 * @throws UsageError if the file cannot be read
 */
export function prepareEnvironment(env: NodeJS.ProcessEnv): void {
  unsetEmpty(env);
  for (const [name, value] of Object.entries(readEnvFile())) {
    if (env[name] !== undefined) continue;
    env[name] = value;
    fromFile.add(name);
  }
  unsetEmpty(env);
}

const fromFile = new Set<string>();

/** The environment for a child process, which reads `.env` itself. */
export const givenEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !fromFile.has(name)));

function readEnvFile(): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync('.env', 'utf8'));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EISDIR') return {};
    throw new UsageError(`Cannot read the file .env: ${message}`, 'Make it readable, or remove it.');
  }
}

function unsetEmpty(env: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(env))
    if (value === '' && /^(LANEFOLD_\w+|DATABASE_URL|REDIS_URL)$/.test(name)) delete env[name];
}
