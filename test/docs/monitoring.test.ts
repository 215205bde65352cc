import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { metricsText } from '../../src/server/metrics.ts';
import { createAgentRegistry } from '../../src/agent/definition/registry.ts';
import { workerMetrics } from '../../src/runs/telemetry/prometheus/open.ts';

interface Panel {
  type: string;
  targets?: { expr: string }[];
}

/** Metrics that exist, each with its labels: those of a worker, and those of the API. */
const labelsOf = new Map<string, Set<string>>();
beforeAll(async () => {
  const metrics = await workerMetrics(await createAgentRegistry([]), () => 0);
  const run = metrics.runClaimed({
    threadId: 't',
    runId: 'r',
    agent: 'a',
    model: 'm',
    contextRef: 'default',
    fresh: true,
    step: 0,
    traceparent: null,
    queuedMs: 0,
  });
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const turn = { text: '', toolCalls: [], usage, finishReason: 'stop' };
  await run.modelCall({ name: 'm' } as never, async (onFirstPart) => (onFirstPart(), { turn }));
  await run.toolCall({ call: { name: 't' } } as never, async () => ({
    status: 'ok',
    content: '',
    attempts: 1,
    durationMs: 0,
  }));
  const jobs = [{ queue: 'q', counts: { wait: 1 } }];
  const stats = {
    runs: { queued: 1 },
    oldestQueuedSeconds: 0,
    oldestReadySeconds: 0,
    oldestDueDeliverySeconds: 0,
    fleet: { alive: 1 },
    jobs,
  } as unknown as Parameters<typeof metricsText>[0];
  const requests = [{ labels: { method: 'GET', status: '200' }, value: 1 }];
  const limits = [{ name: 'l', tenant: 't', kind: 'tokens' as const, keys: 1, usedRatio: 1, waiting: 0, total: 1 }];
  metrics.circuitTurned?.({ model: 'm', state: 'open' });
  const circuits = [{ model: 'm', state: 'open' }] as unknown as Parameters<typeof metricsText>[2];
  const text =
    (await metrics.text()) + metricsText(stats, limits, circuits, requests as Parameters<typeof metricsText>[3]);
  metrics.close();
  for (const [, name, labels = ''] of text.matchAll(/^([a-z]\w*)(?:\{([^}]*)\})? /gm)) {
    const known = labelsOf.get(name!) ?? new Set<string>();
    for (const [, label] of labels.matchAll(/(\w+)="/g)) known.add(label!);
    labelsOf.set(name!, known);
  }
});

const dashboard = JSON.parse(readFileSync('docs/monitoring/grafana-dashboard.json', 'utf8')) as { panels: Panel[] };
const alerts = readFileSync('docs/monitoring/alerts.yaml', 'utf8');
/** The expressions of the alerts, on one line or folded over several. */
const alertExpressions = [...alerts.matchAll(/^ {8}expr: (?:>-\n((?: {10}.*\n)+)|(.*)\n)/gm)].map(
  ([, folded, plain]) => folded ?? plain!,
);
const expressions = [
  ...dashboard.panels.flatMap((panel) => (panel.targets ?? []).map((target) => target.expr)),
  ...alertExpressions,
];

describe('dashboard and alerts', () => {
  test('have expressions', () => {
    expect(dashboard.panels.filter((panel) => panel.type !== 'row').every((panel) => panel.targets!.length > 0)).toBe(
      true,
    );
    expect(alertExpressions).toHaveLength(alerts.match(/- alert:/g)!.length);
    expect(expressions.length).toBeGreaterThan(25);
  });

  test.each(expressions)('use metrics and labels that exist: %s', (expression) => {
    const metrics = [...expression.matchAll(/\b((?:lanefold|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)];
    expect(metrics.length).toBeGreaterThan(0);
    for (const [, name, matchers = ''] of metrics) {
      expect([...labelsOf.keys()]).toContain(name);
      // `instance` comes with the scrape, `le` with every histogram
      const grouped = [...expression.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(', '));
      const matched = [...matchers.matchAll(/(\w+)=/g)].map(([, label]) => label!);
      for (const label of [...grouped, ...matched].filter((label) => label !== 'instance')) {
        expect([...labelsOf.get(name!)!], `${name}: ${label}`).toContain(label);
      }
    }
  });

  test('show every metric of the workers', () => {
    const all = [...labelsOf.keys()].filter((name) => /^lanefold_(?!.*_(sum|created)$)/.test(name));
    const base = (name: string) => name.replace(/_(bucket|count)$/, '');
    const shown = dashboard.panels.flatMap((panel) => (panel.targets ?? []).map((target) => target.expr)).join('\n');
    for (const name of all) expect(shown).toContain(base(name));
  });
});
