// @module-tag slow
import { resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';
import { CreateTaskResultV2Schema, GetTaskResultV2Schema } from '@modelcontextprotocol/ext-tasks/core/v2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorOf, runOf, startRig, type Rig } from './rig.ts';
import { envelope, rawRequest, taskSession } from './tasks-client.ts';

describe('tasks, as the official client of the extension uses them', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
    await rig.work();
  });
  afterAll(() => rig?.close());

  const raw = (method: string, params: object, capabilities?: object) =>
    rawRequest(rig.url, { method, params: { ...params, _meta: envelope(capabilities) } });
  const callTypist = async () =>
    CreateTaskResultV2Schema.parse((await raw('tools/call', { name: 'typist', arguments: { message: 'go' } })).result);

  test('a call becomes a task once its run is stored, and the task has its result', async () => {
    const { session } = await taskSession(rig.url);
    const execution = await session.callTool('typist', { message: 'go' });
    expect(execution.kind).toBe('task');
    const keys = await rig.model.next();
    keys.type('Done.');
    keys.stop();
    const { outcome } = await execution.settle();
    expect(runOf(resultFromTaskOutcome(outcome) as never)).toMatchObject({ status: 'completed', output: 'Done.' });
    await session.close();
  });

  test('a task that needs approval asks the user of the client, once', async () => {
    const asked: unknown[] = [];
    const { session } = await taskSession(rig.url, {
      onInputRequest: (request) => {
        asked.push(request.params);
        return Promise.resolve({ action: 'accept', content: { approve: true } } as never);
      },
    });
    const execution = await session.callTool('typist', { message: 'dig' });
    (await rig.model.next()).stop({ id: 'd', name: 'dig', args: { at: 'the beach' } });
    const settled = execution.settle();
    const after = await rig.model.next();
    expect(JSON.stringify(after.call.prompt)).toContain('dug at the beach');
    after.type('Dug.');
    after.stop();
    expect(runOf(resultFromTaskOutcome((await settled).outcome) as never)).toMatchObject({ output: 'Dug.' });
    expect(asked).toMatchObject([{ message: expect.stringContaining('dig with {"at":"the beach"}') as string }]);
    await session.close();
  });

  test('answers that fit no question are ignored, and a second decision changes nothing', async () => {
    const { taskId } = await callTypist();
    (await rig.model.next()).stop({ id: 'd', name: 'dig', args: { at: 'home' } });
    const [, threadId, runId] = taskId.split('/') as [string, string, string];
    const get = async (capabilities?: object) =>
      GetTaskResultV2Schema.parse((await raw('tasks/get', { taskId }, capabilities)).result);
    await expect.poll(async () => (await get()).status, { timeout: 60_000 }).toBe('input_required');
    expect(Object.keys(((await get()) as { inputRequests: object }).inputRequests)).toEqual(['approval:1.0']);
    // a client that cannot ask is not told to
    expect((await get({ extensions: { 'io.modelcontextprotocol/tasks': {} } })).status).toBe('working');
    const update = (inputResponses: object) => raw('tasks/update', { taskId, inputResponses });
    expect(await update({ 'approval:9.9': { action: 'accept', content: { approve: true } } })).toMatchObject({
      result: {},
    });
    expect(await update({ 'approval:1.0': { action: 'cancel' } })).toMatchObject({ result: {} });
    expect((await get()).status).toBe('input_required');
    expect(await update({ 'approval:1.0': { action: 'accept', content: { approve: 'perhaps' } } })).toMatchObject({
      error: { code: -32602, data: { code: 'invalid_input' } },
    });
    expect(await update({ 'approval:1.0': { action: 'decline' } })).toMatchObject({ result: {} });
    expect(await update({ 'approval:1.0': { action: 'accept', content: { approve: true } } })).toMatchObject({
      result: {},
    });
    const after = await rig.model.next();
    expect(JSON.stringify(after.call.prompt)).not.toContain('dug at home');
    after.stop();
    const run = await rig.front.runs.wait({ threadId, id: runId });
    expect(run.status).toBe('completed');
    const [call] = (await rig.front.runs.get({ threadId, id: runId })).toolCalls;
    expect(call).toMatchObject({ status: 'denied' });
  });

  test('a cancelled task is cancelled, and a failed run is a completed task', async () => {
    const { taskId } = await callTypist();
    await rig.model.next();
    expect(await raw('tasks/cancel', { taskId })).toMatchObject({ result: { resultType: 'complete' } });
    const [, threadId, runId] = taskId.split('/') as [string, string, string];
    await rig.front.runs.wait({ threadId, id: runId });
    expect(await raw('tasks/get', { taskId })).toMatchObject({ result: { status: 'cancelled' } });

    const { result } = await raw('tools/call', { name: 'broken', arguments: { message: 'go' } });
    const failing = CreateTaskResultV2Schema.parse(result);
    const [, thread, run] = failing.taskId.split('/') as [string, string, string];
    await rig.front.runs.wait({ threadId: thread, id: run });
    const failed = await raw('tasks/get', { taskId: failing.taskId });
    expect(failed).toMatchObject({ result: { status: 'completed', result: { isError: true } } });
    expect(errorOf((failed.result as { result: never }).result).message).toContain('out of order');
  });

  test('refuses clients that did not declare tasks, and tasks that do not exist', async () => {
    const { taskId } = await callTypist();
    (await rig.model.next()).stop();
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      expect(await raw(method, { taskId, inputResponses: {} }, {})).toMatchObject({
        error: {
          code: -32021,
          data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
        },
      });
      for (const wrong of ['nothing', 'typist/thread_1/run_1', 'typist/../run', 'a/b/c/d', ''])
        expect(await raw(method, { taskId: wrong, inputResponses: {} })).toMatchObject({ error: { code: -32602 } });
    }
  });
});
