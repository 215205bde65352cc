import { oneLine, printable } from './printable.ts';
import type { LogFacts, Logger } from './logger.ts';

/** Lines for people, on stderr: what happened and to which run. The stack of a bug follows its line. */
export function textLogger(write = (line: string) => void process.stderr.write(line)): Logger {
  const line = ({ component, err, ...facts }: LogFacts, message: string): void => {
    const { stack } = (err ?? {}) as { stack?: unknown };
    const rest = Object.entries(facts)
      // skip facts that the message already contains
      .filter(([, value]) => value !== undefined && !(typeof value === 'string' && message.includes(value)))
      .map(([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join('');
    const source = typeof component === 'string' ? `lanefold ${component}` : 'lanefold';
    write(`${source}: ${oneLine(message + rest)}\n${typeof stack === 'string' ? `${printable(stack)}\n` : ''}`);
  };
  return { debug: line, info: line, warn: line, error: line };
}
