import { buildResumeArray, HttpAgent, type Message, type RunFinishedEvent } from '@ag-ui/client';

const find = <E extends Element>(selector: string) => document.querySelector<E>(selector)!;
const status = find<HTMLElement>('[role=status]');
const element = (name: string, text: string) => Object.assign(document.createElement(name), { textContent: text });

// The name of the conversation; whether this user may see it, the server decides.
const threadId = new URLSearchParams(location.search).get('chat') ?? 'main';
const agent = new HttpAgent({ url: '/api/ag-ui', threadId });

/** The tools that this page runs. */
const tools = { set_title: ({ title }: { title: string }) => (document.title = title) };
const advertised = [
  {
    name: 'set_title',
    description: 'Sets the title of the page.',
    parameters: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
  },
];

let pending: string[] = [];
agent.subscribe({
  onMessagesChanged: () => find('#messages').replaceChildren(...agent.messages.flatMap(shown)),
  onRunFinishedEvent: ({ event }: { event: RunFinishedEvent }) => {
    const { outcome } = event;
    pending = outcome?.type === 'success' ? (outcome.pendingToolCallIds ?? []) : [];
    if (outcome?.type === 'cancelled') status.textContent = 'Stopped.';
  },
  onRunErrorEvent: ({ event }) => void (status.textContent = event.message),
});

function shown(message: Message): Element[] {
  if (message.role === 'user') return [element('article', `You: ${textOf(message.content)}`)];
  if (message.role === 'tool') return [element('article', `→ ${textOf(message.content)}`)];
  if (message.role !== 'assistant') return [];
  const calls = (message.toolCalls ?? []).map(({ function: { name, arguments: args } }) => `${name}(${args})`);
  return [element('article', ['Shop:', message.content, ...calls].filter(Boolean).join(' '))];
}

const textOf = (content: unknown) => (typeof content === 'string' ? content : JSON.stringify(content));

/** Follows the run until it has ended, or waits for the user; runs the tools of this page on the way. */
async function run(resume?: ReturnType<typeof buildResumeArray>): Promise<void> {
  status.textContent = 'Working…';
  await agent.runAgent({ tools: advertised, ...(resume ? { resume } : {}) }).catch((error: Error) => {
    status.textContent = error.message;
  });
  if (pending.length > 0) {
    for (const toolCallId of pending.splice(0)) {
      const { name, arguments: args } = callOf(toolCallId);
      const result = tools[name as keyof typeof tools](JSON.parse(args) as { title: string });
      agent.addMessage({ id: crypto.randomUUID(), role: 'tool', toolCallId, content: JSON.stringify(result) });
    }
    return run();
  }
  if (status.textContent === 'Working…') status.textContent = '';
  ask();
}

function callOf(id: string) {
  const calls = agent.messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));
  return calls.find((call) => call.id === id)!.function;
}

/** Asks for what the run waits for. It continues once every question has an answer. */
function ask(): void {
  const open = agent.pendingInterrupts;
  const answers: Parameters<typeof buildResumeArray>[1] = {};
  const questions = open.map(({ id, message = '' }) => {
    const question = element('p', `${message} `);
    for (const [label, approved] of [
      ['Approve', true],
      ['Deny', false],
    ] as const) {
      const button = element('button', label) as HTMLButtonElement;
      button.onclick = () => {
        answers[id] = { status: 'resolved', payload: { approved } };
        question.remove();
        if (Object.keys(answers).length === open.length) void run(buildResumeArray(open, answers));
      };
      question.append(button);
    }
    return question;
  });
  find('#interrupts').replaceChildren(...questions);
}

find<HTMLFormElement>('form').onsubmit = (event) => {
  event.preventDefault();
  const input = find<HTMLInputElement>('input');
  agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: input.value });
  input.value = '';
  void run();
};
find<HTMLButtonElement>('#stop').onclick = () =>
  void fetch('/api/ag-ui/cancel', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ threadId }),
  });

// shows the conversation, and continues an answer in progress
void run();
