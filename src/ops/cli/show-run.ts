import type { RunNode } from '../../database/store/run/types.ts';
import { snakeKeys } from '../../base/common/case.ts';
import type { JsonObject } from '../../agent/context/message.ts';
import type { RunEventKind } from '../../agent/strategies/records.ts';
import { hasResult, type StreamItem } from '../../runs/streams/stream-item.ts';
import { colours } from './output.ts';
import { printable } from '../../base/log/logger.ts';
import { inOneLine, messageText } from './show-message.ts';
import { LineSplitter } from './read-file.ts';
import type { TreeStreamItem } from '../../runs/streams/tree.ts';

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
        return [c.yellow(`the model failed (${errorOf(data)}); retrying`)];
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
