import { HttpAgent, type HttpAgentConfig } from '@ag-ui/client';
import type { Event, Message } from '@ag-ui/core';
import { EventSchema } from '@ag-ui/core/schemas';
import { createAgUiHandler, type AgUiHandler, type AgUiOptions } from 'lanefold/ag-ui';
import { expect, vi } from 'vitest';

/** A client of the protocol with what it has received; its `HttpAgent` verifies the order of all events. */
export interface Client {
  agent: HttpAgent;
  events: Event[];
  /** The messages it has, without activities. */
  said(): Message[];
  types(): string[];
  last(): Event;
}

/** A handler whose clients may use every thread that they name. */
export const handlerFor = (
  lanefold: Parameters<typeof createAgUiHandler>[0],
  options: Omit<AgUiOptions, 'authorize'>,
): AgUiHandler =>
  createAgUiHandler(lanefold, {
    ...options,
    authorize:
      () =>
      ({ threadId }) => ({ threadId }),
  });

/** A client of an endpoint; events that the schema of the protocol does not describe exactly are errors. */
export function clientOf(config: HttpAgentConfig): Client {
  const agent = new HttpAgent(config);
  const events: Event[] = [];
  agent.subscribe({
    onEvent: ({ event }) => {
      expect(strictly(event), `${event.type} as the protocol describes it`).toEqual(event);
      events.push(event as Event);
    },
  });
  return {
    agent,
    events,
    said: () => inCallOrder(agent.messages.filter(({ role }) => role !== 'activity')),
    types: () => events.map(({ type }) => type),
    last: () => events.at(-1)!,
  };
}

const strictly = (event: unknown): unknown => EventSchema.parse(event);

/** The client warns of what it strips from events; nothing of ours may be stripped. */
export function noWarnings(): () => void {
  const warn = vi.spyOn(console, 'warn');
  const error = vi.spyOn(console, 'error').mockImplementation(() => {});
  return () => {
    const said = warn.mock.calls.map(([text]) => String(text));
    warn.mockRestore();
    error.mockRestore();
    expect(said).toEqual([]);
  };
}

/** The text of a user. */
export const user = (id: string, content: string): Message => ({ id, role: 'user', content });

/** Results in the order of their calls: what has finished while others wait is shown at once. */
function inCallOrder(messages: Message[]): Message[] {
  const place = ({ role, ...of }: Message) => (role === 'tool' ? (of as { toolCallId: string }).toolCallId : '');
  const sorted: Message[] = [];
  for (const message of messages) {
    let at = sorted.length;
    while (message.role === 'tool' && sorted[at - 1]?.role === 'tool' && place(sorted[at - 1]!) > place(message))
      at -= 1;
    sorted.splice(at, 0, message);
  }
  return sorted;
}
