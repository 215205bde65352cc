import { describe, expect, test } from 'vitest';
import type { StrategyEvent } from '../../src/agent/strategies/machine.ts';
import type { ReactState } from '../../src/agent/strategies/react.ts';
import { answered, call, facts, failed, finished, given, kinds, llm, tools } from './given.ts';

describe('ReAct', () => {
  test('starts with model call 1 and commits nothing: the claim has already written the events', () => {
    expect(given(null).when('start')).toEqual({ state: llm, command: { type: 'call_model', callId: 'run_1.1' } });
  });

  test('an answer without tool calls finishes the run and is its last entry', () => {
    const decision = given(llm).when(answered({ text: 'Paris', thinking: 'hm', responseId: 'resp_1' }));
    expect(decision.state).toEqual(llm);
    expect(decision.command).toEqual({ type: 'finish' });
    expect(decision.step!.finish).toEqual({ status: 'completed', reason: 'final_answer', finish_reason: 'stop' });
    expect(decision.step!.entries).toEqual([
      {
        role: 'assistant',
        payload: { content: 'Paris', thinking: 'hm' },
        refs: { context_hash: 'h1', llm_call_id: 'run_1.1', iteration: 1 },
      },
    ]);
    expect(kinds(decision)).toEqual(['llm_completed', 'checkpoint']);
    expect(decision.step!.events![0]).toMatchObject({
      iteration: 1,
      entry: 0,
      data: { call_id: 'run_1.1', turn_type: 'final_answer', finish_reason: 'stop', llm_response_id: 'resp_1' },
    });
  });

  test('an answer with text is final, whatever its finish reason', () => {
    for (const finishReason of ['length', 'content_filter', 'error', 'unknown', null]) {
      const { step } = given(llm).when(answered({ text: 'half an', finishReason }));
      expect(step!.finish).toEqual({ status: 'completed', reason: 'final_answer', finish_reason: finishReason });
    }
  });

  test('a blank answer is final after a benign finish reason; otherwise the run fails with llm_response, without a commit', () => {
    for (const finishReason of ['stop', null]) {
      const { step } = given(llm).when(answered({ text: ' ', finishReason }));
      expect(step!.finish).toEqual({ status: 'completed', reason: 'final_answer', finish_reason: finishReason });
    }
    for (const finishReason of ['length', 'content_filter', 'error', 'unknown']) {
      const decision = given(llm).when(answered({ text: ' \n', finishReason }));
      expect(decision.step).toBeUndefined();
      expect(decision.command).toMatchObject({ type: 'fail', error: { type: 'llm_response' } });
    }
  });

  test('if input was queued, the run continues with the next iteration instead of finishing', () => {
    const { step } = given(llm).when(answered({ text: 'done?' }));
    const state = step!.continue!.state as ReactState;
    expect(step!.continue).toMatchObject({
      state: { iteration: 2, call_no: 2 },
      events: [{ kind: 'llm_started', iteration: 2, data: { call_id: 'run_1.2' } }],
    });
    expect(given(state).when({ type: 'continued' })).toEqual({
      state,
      command: { type: 'call_model', callId: 'run_1.2' },
    });
  });

  test('input queued during the last allowed call is not answered: the run ends at the limit', () => {
    const { step } = given({ ...llm, iteration: 3 }).when(answered({ text: 'done?' }));
    expect(step!.continue!.events).toEqual([]);
    const end = given(step!.continue!.state as ReactState).when({ type: 'continued' });
    expect(end.step).toEqual({ finish: { status: 'completed', reason: 'max_iterations', result: null } });
    expect(end.command).toEqual({ type: 'finish' });
  });

  test('tool calls start a round, with ledger rows and tool_started events in call order', () => {
    const calls = [call('a', 'look', { at: 1 }), call('b', 'look'), call('a', 'other')];
    const decision = given(llm).when(answered({ text: 'let me see', toolCalls: calls, finishReason: 'stop' }));
    expect(decision.state).toEqual(tools);
    expect(decision.command).toEqual({ type: 'run_tools', round: 1, calls });
    expect(decision.step!.entries![0]!.payload).toEqual({ content: 'let me see', tool_calls: calls });
    expect(decision.step!.calls).toEqual([
      { index: 0, id: 'a', name: 'look' },
      { index: 1, id: 'b', name: 'look' },
      { index: 2, id: 'a', name: 'other' },
    ]);
    expect(kinds(decision)).toEqual(['llm_completed', 'checkpoint', 'tool_started', 'tool_started', 'tool_started']);
    expect(decision.step!.finish).toBeUndefined();
  });

  test('a round is restricted to the tools the model was offered, even after a crash; the next round is not', () => {
    const started = given(llm).when({ ...answered({ toolCalls: [call('a')] }), tools: ['look'] } as StrategyEvent);
    expect(started.state.tools).toEqual(['look']);
    const again = given(started.state).when('resume');
    expect(again).toMatchObject({ state: { tools: ['look'] }, command: { type: 'run_tools' } });
    expect(given(again.state).when(finished([call('a')])).state.tools).toBeUndefined();
  });

  test('missing call ids are filled in, distinct and equal in message and ledger; existing ids are kept', () => {
    const { step, command } = given(llm).when(answered({ toolCalls: [call(''), call('b'), call('')] }));
    const ids = step!.calls!.map((row) => row.id);
    expect(ids[1]).toBe('b');
    expect(new Set(ids).size).toBe(3);
    expect(ids).not.toContain('');
    expect((step!.entries![0]!.payload['tool_calls'] as { id: string }[]).map((c) => c.id)).toEqual(ids);
    expect(command).toMatchObject({ calls: ids.map((id) => ({ id })) });
  });

  test('finished tools become messages in call order; the next model call starts after the drained input', () => {
    const calls = [call('a'), call('b', 'other')];
    const outcomes = [
      { content: 'x', cleaned: true },
      { status: 'error' as const, attempts: 2, durationMs: 9 },
    ];
    const decision = given(tools).when(finished(calls, outcomes));
    expect(decision.step!.entries).toEqual([
      {
        role: 'tool',
        payload: { content: 'x', tool_call_id: 'a', name: 'look' },
        refs: { iteration: 1, cleaned: true },
      },
      { role: 'tool', payload: { content: 'r1', tool_call_id: 'b', name: 'other' }, refs: { iteration: 1 } },
    ]);
    expect(decision.step!.outcomes).toEqual([
      { status: 'ok', attempts: 1, duration_ms: 5 },
      { status: 'error', attempts: 2, duration_ms: 9 },
    ]);
    expect(kinds(decision)).toEqual(['tool_completed', 'tool_completed', 'checkpoint', '|', 'llm_started']);
    expect(decision.step!.events!.map((event) => event.iteration)).toEqual([1, 1, 2]);
    expect(decision.step!.drain).toBe(true);
    expect(decision.state).toMatchObject({ phase: 'llm', iteration: 2, call_no: 2, retries: 0 });
    expect(decision.command).toEqual({ type: 'call_model', callId: 'run_1.2' });
  });

  test('an answer that announces tool calls and has only a text is that text', () => {
    const decision = given(llm).when(answered({ text: 'done', finishReason: 'tool_calls' }));
    expect(decision.command).toEqual({ type: 'finish' });
    expect(decision.step!.finish).toEqual({
      status: 'completed',
      reason: 'final_answer',
      finish_reason: 'tool_calls',
    });
  });

  test('an answer that announces tool calls and has nothing counts as an iteration', () => {
    const decision = given(llm).when(answered({ text: ' ', finishReason: 'tool_calls' }));
    expect(decision.command).toEqual({ type: 'call_model', callId: 'run_1.2' });
    expect(kinds(decision)).toEqual(['llm_completed', 'checkpoint', 'checkpoint', '|', 'llm_started']);
    const [, ...checkpoints] = decision.step!.events!.slice(0, 3);
    expect(checkpoints).toMatchObject([
      { iteration: 1, data: { reason: 'after_llm' } },
      { iteration: 2, data: { reason: 'after_tools' } },
    ]);
    const last = given({ ...llm, iteration: 3 }).when(answered({ finishReason: 'tool_calls' }));
    expect(last.step!.finish).toEqual({ status: 'completed', reason: 'max_iterations', result: null });
  });

  test('the round of a cut answer knows the cut after a crash, and the next round does not', () => {
    const cut = { reason: 'length', limit: 256 } as const;
    const event = { ...answered({ toolCalls: [call('a')], finishReason: 'length' }), cut } as StrategyEvent;
    const round = given(llm).when(event);
    const committed = JSON.parse(JSON.stringify(round.state)) as ReactState;
    expect(given(committed).when('resume').state.cut).toEqual(cut);
    expect(given(committed).when(finished([call('a')])).state.cut).toBeUndefined();
  });

  test('the tools of the last allowed call still run; then the run completes without a result', () => {
    const third = { ...llm, iteration: 3, call_no: 3 };
    const calling = given(third).when(answered({ toolCalls: [call('a')] }));
    expect(calling.command).toMatchObject({ type: 'run_tools' });
    const end = given(calling.state).when(finished([call('a')]));
    expect(end.command).toEqual({ type: 'finish' });
    expect(end.step!.finish).toEqual({ status: 'completed', reason: 'max_iterations', result: null });
    expect(end.step!.entries).toHaveLength(1);
    expect(kinds(end)).toEqual(['tool_completed', 'checkpoint']);
  });

  test('repeating the same calls adds one warning, after the tool messages', () => {
    const first = given(tools).when(finished([call('a', 'look', { at: 1 }), call('b', 'other')]));
    expect(first.step!.entries!.map((entry) => entry.role)).toEqual(['tool', 'tool']);
    const again = { ...first.state, phase: 'tools' as const };
    const second = given(again).when(finished([call('c', 'other'), call('d', 'look', { at: 1 })]));
    expect(second.step!.entries!.map((entry) => entry.role)).toEqual(['tool', 'tool', 'user']);
    expect(second.step!.entries![2]!.refs).toEqual({ kind: 'cycle_warning', iteration: 2 });
    const other = given(again).when(finished([call('c', 'other'), call('d', 'look', { at: 2 })]));
    expect(other.step!.entries).toHaveLength(2);
  });

  test('a retryable failure is retried with growing delays, each with an event, until the retries run out', () => {
    const first = given(llm).when(failed(true));
    expect(first.command).toEqual({ type: 'call_model', callId: 'run_1.2', afterMs: 500 });
    expect(kinds(first)).toEqual(['llm_retry', 'llm_started']);
    expect(first.step!.events![0]!.data).toEqual({
      call_id: 'run_1.1',
      attempt: 1,
      delay_ms: 500,
      error: { type: 'llm_request', message: 'broken' },
    });
    expect(first.step!.entries).toBeUndefined();
    const second = given(first.state).when(failed(true));
    expect(second.command).toMatchObject({ afterMs: 1000, callId: 'run_1.3' });
    const third = given(second.state).when(failed(true));
    expect(third.step).toBeUndefined();
    expect(third.command).toEqual({ type: 'fail', error: { type: 'llm_request', message: 'broken' } });
  });

  test('delays are capped, Retry-After is respected, and a success resets the retries', () => {
    const late = given({ ...llm, retries: 12 }, { maxModelRetries: 20 }).when(failed(true));
    expect(late.command).toMatchObject({ afterMs: 30_000 });
    expect(given(llm).when(failed(true, 7_000)).command).toMatchObject({ afterMs: 7_000 });
    expect(given(llm).when(failed(true, 0)).command).toMatchObject({ afterMs: 500 });
    expect(given(llm).when(failed(true, 60_001)).command).toMatchObject({ type: 'fail' });
    const { state } = given({ ...llm, retries: 2 }).when(answered({ toolCalls: [call('a')] }));
    expect(given(state).when(finished([call('a')])).state.retries).toBe(0);
  });

  test('a failure that is not retryable fails the run immediately', () => {
    expect(given(llm).when(failed(false))).toEqual({
      state: llm,
      command: { type: 'fail', error: { type: 'llm_request', message: 'broken' } },
    });
  });

  test.each([
    ['before its first step', null, 1],
    ['during a model call', { ...llm, iteration: 2, call_no: 4 }, 4],
  ])('resumed %s, it records the lost call and starts a new one', (_, state, lost) => {
    const decision = given(state).when('resume');
    expect(kinds(decision)).toEqual(['llm_lost', '|', 'llm_started']);
    expect(decision.step!.events![0]!.data).toEqual({ call_id: `run_1.${lost}` });
    expect(decision.step!.thenEvents![0]!.data).toMatchObject({ call_id: `run_1.${lost + 1}` });
    expect(decision.step!.drain).toBe(true);
    expect(decision.command).toEqual({ type: 'call_model', callId: `run_1.${lost + 1}` });
  });

  test('resumed in a tool round, it continues the round without a commit', () => {
    expect(given(tools).when('resume')).toEqual({
      state: tools,
      command: { type: 'run_tools', round: 1, calls: [] },
    });
  });

  test('resumed past the limit, it ends the run at the limit', () => {
    const decision = given({ ...llm, iteration: facts.maxIterations + 1 }).when('resume');
    expect(decision.step).toEqual({ finish: { status: 'completed', reason: 'max_iterations', result: null } });
  });
});
