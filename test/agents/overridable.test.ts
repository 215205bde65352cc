import { defineAgent, type AgentDefinition } from 'lanefold';
import { expect, test } from 'vitest';
import { overridableFields, refusedOverrides } from '../../src/agent/definition/overridable.ts';

const agent = (overridable?: AgentDefinition['overridable']) =>
  defineAgent({ name: 'a', model: 'm', ...(overridable ? { overridable } : {}) }).overridable;

test('by default callers over HTTP may override nothing, and the library everything', () => {
  expect(agent()).toEqual({ http: [], library: undefined });
  expect(agent({ http: ['model'] })).toEqual({ http: ['model'], library: undefined });
  expect(agent(['output'])).toEqual({ http: ['output'], library: ['output'] });
  const given = Object.fromEntries(overridableFields.map((field) => [field, 1]));
  expect(refusedOverrides([], given)).toEqual([...overridableFields]);
  expect(refusedOverrides(undefined, given)).toEqual([]);
});

test('a key of the tool context may be listed by itself', () => {
  const allowed = ['toolContext.locale'] as const;
  expect(refusedOverrides(allowed, { toolContext: { locale: 'de' } })).toEqual([]);
  expect(refusedOverrides(allowed, { toolContext: { locale: 'de', tenant: 'x' } })).toEqual(['toolContext.tenant']);
  expect(refusedOverrides(allowed, { toolContext: 'x' })).toEqual(['toolContext']);
});

test.each([[['modell']], [{ http: ['toolContext.'] }], [[7]]])('%j lists what is no field', (overridable) => {
  expect(() => agent(overridable as never)).toThrow(expect.objectContaining({ code: 'invalid_agent' }));
});

test('an agent that was defined before keeps its list', () => {
  const defined = defineAgent({ name: 'a', model: 'm', overridable: { http: ['model'], library: [] } });
  expect(defineAgent(defined).overridable).toEqual(defined.overridable);
});
