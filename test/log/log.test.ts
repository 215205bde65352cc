import type { LogFacts, Logger } from 'lanefold';
import { LanefoldError } from 'lanefold';
import { describe, expect, test } from 'vitest';
import type { Library } from '../../src/features/library/library.ts';
import { createApp } from '../../src/doors/app.ts';
import { redacted, textLogger, reportErrors, seldom } from '../../src/base/log/logger.ts';
import { createKeyRedactor } from '../../src/base/redaction/sensitive-keys.ts';
import { lanefoldClosed } from '../../src/database/postgres/errors.ts';

const redactor = createKeyRedactor();

/** A logger that keeps its lines. */
function kept() {
  const lines: { level: string; facts: LogFacts; message: string }[] = [];
  const method = (level: string) => (facts: LogFacts, message: string) => void lines.push({ level, facts, message });
  const logger: Logger = {
    debug: method('debug'),
    info: method('info'),
    warn: method('warn'),
    error: method('error'),
  };
  return { logger, lines };
}

describe('a log', () => {
  test('drops what is below its level', () => {
    const { logger, lines } = kept();
    const log = redacted(logger, redactor, 'warn');
    log.debug({}, 'a');
    log.info({}, 'b');
    log.warn({}, 'c');
    log.error({}, 'd');
    expect(lines.map((line) => [line.level, line.message])).toEqual([
      ['warn', 'c'],
      ['error', 'd'],
    ]);
    redacted(logger, redactor, 'silent').error({}, 'e');
    expect(lines).toHaveLength(2);
  });

  test('shows no secret: by key, by form, in messages, errors, causes and stacks', () => {
    const { logger, lines } = kept();
    const cause = new Error('refused: password=hunter2hunter2');
    const err = new Error('sk-abcdef0123456789 was refused', { cause });
    const data = { password: 'hunter2hunter2', list: ['Bearer abcdefgh12345'] };
    redacted(logger, redactor, 'debug').error({ err, data, thread_id: 't' }, 'token=abcdefgh12345 failed');
    const [line] = lines;
    expect(JSON.stringify(line)).not.toMatch(/hunter2|sk-abc|abcdefgh/);
    expect(line!.facts).toMatchObject({ thread_id: 't', err: { type: 'Error', cause: { type: 'Error' } } });
    expect((line!.facts['err'] as { stack: string }).stack).toContain('log.test.ts');
  });

  test('has no stack of errors that are no bugs', () => {
    const { logger, lines } = kept();
    const err = new LanefoldError('database_unreachable', 'PostgreSQL does not answer.');
    redacted(logger, redactor, 'debug').error({ err }, 'x');
    expect(lines[0]!.facts['err']).toEqual({
      type: 'LanefoldError',
      code: 'database_unreachable',
      message: 'PostgreSQL does not answer.',
    });
  });

  test('says the same at most once in a while', () => {
    const isDue = seldom();
    expect([isDue('a'), isDue('a'), isDue('b'), isDue('a')]).toEqual([true, false, true, false]);
  });

  test('is text for people: one line, without what it has said, and the stack of a bug', () => {
    let written = '';
    const log = textLogger((text) => void (written += text));
    log.warn(
      { component: 'worker', run_id: 'run_1', attempts: 2, absent: undefined },
      'run run_1\nwas\u001b[2J dropped',
    );
    expect(written).toBe('lanefold worker: run run_1 was\ufffd[2J dropped attempts=2\n');
    written = '';
    log.error({ err: { message: 'no', stack: 'Error: no\n    at a' } }, 'no');
    expect(written).toBe('lanefold: no\nError: no\n    at a\n');
  });
});

test('work that the end of its own instance cuts off is no error to report', () => {
  const { logger, lines } = kept();
  const report = reportErrors(logger, 'worker');
  report(lanefoldClosed());
  report(new Error('another'));
  expect(lines.map(({ message }) => message)).toEqual(['another']);
});

test('the API logs an error behind a 500, redacted, and the response has none of it', async () => {
  const { logger, lines } = kept();
  const failing = new Proxy({} as Library, {
    get: (_, name) => {
      if (name === 'log') return redacted(logger, redactor, 'info');
      if (name === 'queues') return [];
      return {
        get: () => Promise.reject(new Error('connect postgres://u@h/db?password=hunter2hunter2 failed')),
        writeRead: async () => {},
      };
    },
  });
  const app = createApp(failing);
  const response = await app.request('http://127.0.0.1/v1/threads/t1', { headers: { host: '127.0.0.1' } });
  expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining('postgres:')]);
  expect(lines).toMatchObject([{ level: 'error', facts: { component: 'api', method: 'GET', path: '/v1/threads/t1' } }]);
  expect(lines[0]!.message).toContain('GET /v1/threads/t1: connect postgres:');
  expect(JSON.stringify(lines)).not.toContain('hunter2');
});
