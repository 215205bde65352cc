import { describe, expect, it, vi } from 'vitest';
import { createModelRegistry } from '../../src/agent/models/registry.ts';
import { fakeModel } from './fakes.ts';

const registry = (options: Parameters<typeof createModelRegistry>[0] = {}) =>
  createModelRegistry({ env: {}, ...options });

async function failure(id: string, options: Parameters<typeof createModelRegistry>[0] = {}) {
  const r = registry(options);
  const resolved = await r.resolve(id).catch((error: unknown) => error);
  let checked: unknown;
  try {
    r.check(id);
  } catch (error) {
    checked = error;
  }
  expect(checked).toEqual(resolved);
  return checked as Error & { code: string; hint: string };
}

describe('built-in providers', () => {
  it.each([
    ['openai:gpt-5', { OPENAI_API_KEY: 'k' }, 'openai.responses'],
    ['openai:gpt-5', { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }, 'openai.chat'],
    ['openai-compatible:qwen:7b', { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }, 'openai-compatible.chat'],
    ['anthropic:claude', { ANTHROPIC_API_KEY: 'k' }, 'anthropic.messages'],
    ['google:gemini', { GOOGLE_GENERATIVE_AI_API_KEY: 'k' }, 'google.generative-ai'],
    ['scripted:echo', {}, 'scripted'],
  ])('%s with %j', async (id, env, provider) => {
    const model = await registry({ env }).resolve(id);
    expect(model).toMatchObject({ specificationVersion: 'v4', provider, modelId: id.slice(id.indexOf(':') + 1) });
  });

  it.each([
    ['openai:gpt-5', 'OPENAI_API_KEY'],
    ['anthropic:claude', 'ANTHROPIC_API_KEY'],
    ['google:gemini', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    ['openai-compatible:x', 'OPENAI_BASE_URL'],
  ])('%s without its key names %s', async (id, variable) => {
    const error = await failure(id, { env: { [variable]: '' } });
    expect(error).toMatchObject({ code: 'missing_provider_key', details: { variable } });
    expect(error.message).toContain(variable);
    expect(error.hint).toContain('scripted:');
  });
});

describe('names', () => {
  it('follows aliases of aliases and caches', async () => {
    const r = registry({ aliases: { fast: 'cheap', cheap: 'scripted:echo' } });
    const model = await r.resolve('fast');
    expect(model.modelId).toBe('echo');
    expect(await r.resolve('fast')).toBe(model);
  });

  it('rejects circular aliases', async () => {
    const error = await failure('a', { aliases: { a: 'b', b: 'a' } });
    expect(error).toMatchObject({ code: 'unknown_model', message: expect.stringContaining('a → b → a') });
  });

  it("serves the user's models by id and by prefix", async () => {
    const mine = fakeModel([]);
    const replay = vi.fn((id: string) => ({ ...fakeModel([]), modelId: id }));
    const r = registry({ models: { mine, replay, openai: () => mine } });
    expect(await r.resolve('mine')).toBe(mine);
    expect(await r.resolve('openai:gpt-5')).toBe(mine);
    r.check('replay:12');
    expect(replay).not.toHaveBeenCalled();
    expect((await r.resolve('replay:12')).modelId).toBe('12');
    await r.resolve('replay:12');
    expect(replay).toHaveBeenCalledTimes(1);
  });

  it('rejects a model of another specification version', async () => {
    const old = { specificationVersion: 'v2' } as never;
    await expect(registry({ models: { old } }).resolve('old')).rejects.toMatchObject({ code: 'unknown_model' });
  });

  it('tries again after a failure', async () => {
    const make = vi.fn(() => fakeModel([]));
    make.mockImplementationOnce(() => {
      throw new Error('once');
    });
    const r = registry({ models: { m: make } });
    await expect(r.resolve('m:1')).rejects.toThrow('once');
    await expect(r.resolve('m:1')).resolves.toBeDefined();
  });
});

describe('unknown models', () => {
  it.each([
    ['opnai:gpt-5', 'openai:gpt-5'],
    ['gpt-5', 'openai:gpt-5'],
    ['claude-x', 'anthropic:claude-x'],
    ['fats', 'fast'],
    ['replya:12', 'replay:12'],
  ])('%s suggests %s', async (id, suggestion) => {
    const error = await failure(id, { aliases: { fast: 'scripted:echo' }, models: { replay: () => fakeModel([]) } });
    expect(error).toMatchObject({ code: 'unknown_model', hint: `Did you mean ${suggestion}?` });
    expect(error.message).toContain('openai:');
    expect(error.message).toContain('fast');
  });

  it.each(['', ':', 'openai:', 'zzz:zzz', 'constructor', 'toString:x'])('%j is one', async (id) => {
    expect((await failure(id)).code).toBe('unknown_model');
  });

  it.each([
    'scripted:nope',
    'scripted:[',
    'scripted:[]',
    'scripted:[1]',
    'scripted:echo?x=1',
    'scripted:echo?chunk_ms=x',
  ])('%s is one', async (id) => {
    expect(await failure(id)).toMatchObject({ code: 'unknown_model', hint: expect.stringContaining('scripted:echo') });
  });
});

describe('a name that could steer the request', () => {
  const env = { GOOGLE_GENERATIVE_AI_API_KEY: 'k', OPENAI_API_KEY: 'k' };
  it.each([
    'google:../../admin?x=',
    'google:..%2f..%2fadmin',
    'google:gemini#x',
    'google:files/secret',
    'google:gemini:countTokens',
    'google://evil.example/x',
    'openai:gpt 5',
    'openai:gpt-5\r\nx: y',
    `openai:${'x'.repeat(300)}`,
    'mine:../x',
  ])('%j is refused', async (id) => {
    const models = { mine: () => fakeModel([]) };
    const error = await createModelRegistry({ env, models })
      .resolve(id)
      .catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'unknown_model', message: expect.stringContaining('valid name') });
  });

  it.each(['google:gemini-2.5-pro', 'google:tunedModels/mine', 'openai:ft:gpt-5:org::id', 'openai:org/model@1'])(
    '%j is none',
    (id) => expect(() => createModelRegistry({ env }).check(id)).not.toThrow(),
  );
});
