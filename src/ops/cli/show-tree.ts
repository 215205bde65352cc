import { LineSplitter } from '../../base/common/line-splitter.ts';
import { printable } from '../../base/log/printable.ts';
import type { TreeStreamItem } from '../../runs/streams/tree.ts';
import { StreamText } from './show-stream.ts';

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
