import type { RunNode } from '../../database/store/nodes/types.ts';
import { snakeKeys } from '../../base/common/case.ts';
import type { JsonObject, Json, ToolCall } from '../../agent/context/message.ts';
import type { RunEventKind } from '../../agent/strategies/records.ts';
import { hasResult, type StreamItem } from '../../runs/streams/stream.ts';
import { colours } from './output.ts';
import { printable } from '../../base/log/logger.ts';
import { LineSplitter } from './read-file.ts';
import type { TreeStreamItem } from '../../runs/streams/tree.ts';
import type { ContextProjection } from '../../runs/operations/contexts/project.ts';

const resultWidth = 160;

/** Formats a stream with entries as text: answers grow as they arrive, everything else is a line. */
export class StreamText {
  readonly #c: ReturnType<typeof colours>;
  /** What the unfinished last line contains; it still needs a line break. */
  #line: 'text' | 'thinking' | undefined;

  constructor(stream: NodeJS.WriteStream = process.stdout) {
    this.#c = colours(stream);
  }

  of(item: StreamItem): string {
    if (item.type !== 'event') {
      const thinking = 'thinking' in item ? this.#grow('thinking', item.thinking) : '';
      return thinking + ('text' in item ? this.#grow('text', item.text) : '');
    }
    const lines = this.#lines(item.event.kind, item.event.runId, item.event.data, item.entry ?? {});
    return lines.length === 0 ? '' : this.#end() + lines.map((line) => `${line}\n`).join('');
  }

  #grow(part: 'text' | 'thinking', more: string): string {
    if (more === '') return '';
    const before = this.#line === part ? '' : this.#end();
    this.#line = part;
    return before + (part === 'text' ? printable(more) : this.#c.dim(printable(more)));
  }

  #end(): string {
    if (!this.#line) return '';
    this.#line = undefined;
    return '\n';
  }

  #lines(kind: RunEventKind, runId: string, data: JsonObject, entry: JsonObject): string[] {
    const c = this.#c;
    switch (kind) {
      case 'request_started':
        return [c.dim(`run ${runId}`)];
      case 'input_injected':
        return [`${c.bold('»')} ${inOneLine(messageText(entry), resultWidth)}`];
      case 'llm_completed': {
        // The text was already shown as it arrived.
        const calls = messageText({ content: '', ...(entry['tool_calls'] ? { tool_calls: entry['tool_calls'] } : {}) });
        return calls === '' ? [] : calls.split('\n').map((call) => c.cyan(call));
      }
      case 'tool_completed': {
        const of = `← ${printable(String(data['tool_name']))} ${String(data['status'])} in ${String(data['duration_ms'])} ms`;
        const result = inOneLine(messageText({ content: entry['content'] ?? '' }), resultWidth);
        return [`${data['status'] === 'ok' ? c.green(of) : c.red(of)}  ${result}`];
      }
      case 'approval_requested':
        return [c.yellow(`${toolOf(data)} waits for approval`)];
      case 'approval_decided':
        return [c.yellow(`${toolOf(data)} ${String(data['decision'])}`)];
      case 'llm_retry':
        return [c.yellow(`the model failed (${errorOf(data)}); ${nextOf(data)}`)];
      case 'llm_lost':
        return [c.yellow('the worker died during the answer; calling the model again')];
      case 'request_completed':
        return [
          hasResult(data)
            ? c.dim(`completed (${String(data['termination_reason'])})${tokens(data)}`)
            : c.yellow(`completed without an answer (${String(data['termination_reason'])})`) + c.dim(tokens(data)),
        ];
      case 'request_failed':
        return [c.red(`failed: ${errorOf(data)}`) + c.dim(tokens(data))];
      case 'request_cancelled':
        return [c.yellow(`cancelled: ${printable(String(data['reason'] ?? ''))}`) + c.dim(tokens(data))];
      default:
        return [];
    }
  }
}

const toolOf = (data: JsonObject): string =>
  `${printable(String(data['tool_name']))} (${String(data['round'])}.${String(data['index'])})`;

function errorOf(data: JsonObject): string {
  const { type, message } = Object(data['error']) as { type?: string; message?: string };
  return printable([type, message].filter(Boolean).join(': '));
}

function tokens(data: JsonObject): string {
  const { total_tokens: total } = Object(data['usage']) as { total_tokens?: number };
  return total === undefined ? '' : `, ${total} tokens`;
}

/** A stream item as the API sends it: `{type: "event", …}`, `llm_delta` or `llm_snapshot`. */
export const itemToJson = (item: StreamItem): object =>
  item.type === 'event' ? { type: 'event', ...snakeKeys(item.event) } : snakeKeys(item);

/** Formats the stream of a tree as text: whole lines, each with the agent of its run. */
export class TreeText {
  readonly #runs = new Map<string, { text: StreamText; lines: LineSplitter }>();
  /** By the id of the run. */
  readonly #agents = new Map<string, string>();

  constructor(run: { id: string; agent: string }) {
    this.#agents.set(run.id, run.agent);
  }

  of({ run, item }: TreeStreamItem): string {
    if (item.type === 'event') {
      const child = item.event.data['child'] as { run_id: string; agent?: string } | undefined;
      if (child?.agent) this.#agents.set(child.run_id, child.agent);
    }
    let shown = this.#runs.get(run.id);
    if (!shown) this.#runs.set(run.id, (shown = { text: new StreamText(), lines: new LineSplitter() }));
    const lines = shown.lines.push(shown.text.of(item));
    const agent = printable(this.#agents.get(run.id) ?? run.id);
    return lines.map((line) => `${agent} | ${line}\n`).join('');
  }
}

const width = 100;

/**
 * The nodes of a run as a tree, one line each: scores and contents, indented below their parents. For a strategy that
 * builds a tree of thoughts, only the thoughts are shown, not the calls that led to them.
 */
export function drawTree(nodes: readonly RunNode[]): string {
  const thoughts = nodes.filter(({ callId }) => callId === null);
  const shown = thoughts.length > 0 ? thoughts : nodes;
  const known = new Set(shown.map(({ node }) => node));
  const childrenOf = new Map<number, RunNode[]>();
  for (const node of shown) {
    const parent = node.parent !== null && known.has(node.parent) ? node.parent : 0;
    childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), node]);
  }
  const lines: string[] = ['question'];
  // an explicit stack, because a chain of a thousand steps is deep
  const open = (childrenOf.get(0) ?? []).map((node) => ({ node, depth: 1 })).reverse();
  for (let next = open.pop(); next; next = open.pop()) {
    const { node, depth } = next;
    lines.push(`${'  '.repeat(depth)}${lineOf(node)}`);
    open.push(...(childrenOf.get(node.node) ?? []).map((child) => ({ node: child, depth: depth + 1 })).reverse());
  }
  return lines.join('\n');
}

function lineOf({ node, kind, status, score, content }: RunNode): string {
  const what = kind === 'thought' ? '' : `${kind} `;
  const how = [...(score === null ? [] : [score.toFixed(2)]), ...(status === 'best' ? ['best'] : [])].join(' ');
  return `${node} ${what}${how && `(${how}) `}${inOneLine(content ?? '', width)}`.trimEnd();
}

/** A message as printable text: its content, then a line per tool call. A tool message starts with the tool's name. */
export function messageText(message: { content?: Json; tool_calls?: Json; name?: Json }): string {
  const calls = ((message.tool_calls ?? []) as unknown as ToolCall[]).map(
    (call) => `→ ${call.name}(${call.arguments_raw ?? JSON.stringify(call.arguments)})`,
  );
  const of = typeof message.name === 'string' ? [`← ${message.name}`] : [];
  const content = typeof message.content === 'string' ? message.content : partsText(message.content ?? '');
  return printable([...of, ...(content === '' ? [] : [content]), ...calls].join('\n'));
}

const partsText = (content: Json): string =>
  Array.isArray(content)
    ? content
        .map((part) => (typeof Object(part).text === 'string' ? String(Object(part).text) : JSON.stringify(part)))
        .join('\n')
    : JSON.stringify(content);

/** Printable text on one line, cut to `width`. */
export function inOneLine(text: string, width: number): string {
  const line = printable(text.replace(/\s+/g, ' ').trim());
  return line.length > width ? `${line.slice(0, Math.max(20, width) - 1).toWellFormed()}…` : line;
}

const number = (value: number): string => value.toLocaleString('en');

/** A projection as text: its cost, then a line for each message of the lane with the reason it is sent or not. */
export function showProjection({ messages, meta, explain = [] }: ContextProjection): string {
  const c = colours();
  const texts = new Map(messages.map((row) => [`${row.seq} ${row.role}`, messageText(row)]));
  const limit = meta.budget === null ? 'no limit' : `${number(meta.budget)} tokens`;
  const flags = [
    meta.truncated && 'truncated',
    meta.over_budget && 'over budget',
    meta.summary_used && 'with a summary',
  ];
  const head = [
    `${meta.entries_included} of ${meta.entries_total} messages`,
    `${number(meta.estimated_tokens)} tokens (${printable(meta.estimator.name)})`,
    `budget: ${limit}`,
    ...flags.filter((flag) => typeof flag === 'string'),
  ];
  const lines = explain.map(({ seq, role, tokens, included, reason, message }) => {
    const cells = [
      `#${seq}`.padStart(6),
      role.padEnd(9),
      number(tokens).padStart(8),
      included ? '+' : '-',
      reason.padEnd(15),
    ];
    const text = inOneLine(
      (message ? messageText(message as unknown as JsonObject) : texts.get(`${seq} ${role}`)) ?? '',
      50,
    );
    const line = `${cells.join(' ')} ${text}`.trimEnd();
    return included ? line : c.dim(line);
  });
  return [head.join(', '), '', ...lines].join('\n');
}

/**
 * A result for people: its text; for a structured result its `answer`, or the content of its `best`; else its JSON.
 * Undefined for a run that ended without an answer. A search that found no line with the answer shows what the model
 * wrote.
 */
export function readableAnswer(result: Json): string | undefined {
  if (result === null) return undefined;
  if (typeof result === 'string') return result;
  const { answer, best, raw_response: written } = Object(result) as JsonObject;
  if (typeof answer === 'string') return answer;
  if (answer === null && typeof written === 'string') return written === '' ? undefined : written;
  const { content } = Object(best) as JsonObject;
  return typeof content === 'string' ? content : JSON.stringify(result);
}

/** What follows a failed attempt. */
const nextOf = ({ model, next_model: next }: Record<string, unknown>): string =>
  model === next ? 'retrying' : `asking ${printable(String(next))}`;
