import type { Exercised, CampaignReport } from './report.ts';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { parseJson } from '../../base/common/json.ts';
import type { Backend } from '../../runs/queue/queue.ts';

/** The campaigns on one queue. */
type Campaigns = readonly CampaignReport[];

const sum = (campaigns: Campaigns, of: (report: CampaignReport) => number): number =>
  campaigns.reduce((total, report) => total + of(report), 0);

const most = (campaigns: Campaigns, of: (report: CampaignReport) => number): number =>
  Math.max(...campaigns.map((report) => of(report)));

const number = (value: number): string => value.toLocaleString('en');

const total = (of: (report: CampaignReport) => number) => (campaigns: Campaigns) => number(sum(campaigns, of));

/** Campaigns of earlier versions lack it. */
const added = (name: keyof Omit<Exercised, 'strategies'>) => (campaigns: Campaigns) => {
  const known = campaigns.filter(({ exercised }) => exercised[name] !== undefined);
  return known.length === 0 ? undefined : number(sum(known, ({ exercised }) => exercised[name]));
};

const valuesOf = (counts: Record<string, number>): number => Object.values(counts).reduce((all, n) => all + n, 0);

function failures(campaigns: Campaigns): string {
  const types = [...new Set(campaigns.flatMap((report) => Object.keys(report.failures)))];
  return types.map((type) => `${sum(campaigns, (report) => report.failures[type] ?? 0)} ${type}`).join(', ') || 'none';
}

function seeds(campaigns: Campaigns): string {
  const all = campaigns.map(({ seed }) => seed);
  const [first, last] = [Math.min(...all), Math.max(...all)];
  if (first === last) return String(first);
  return last - first === all.length - 1 ? `${first} to ${last}` : all.toSorted((a, b) => a - b).join(', ');
}

/** Each has no value for campaigns that did not count it. */
const figures: [string, (campaigns: Campaigns) => string | undefined][] = [
  ['scenarios', total((report) => report.scenarios)],
  ['worker deaths', total((report) => report.worker_deaths)],
  ['runs', total(({ runs }) => runs.total)],
  ['completed', total(({ runs }) => runs.completed)],
  ['cancelled', total(({ runs }) => runs.cancelled)],
  ['failed, by error', failures],
  ['runs of strategies', total(({ exercised }) => valuesOf(exercised.strategies))],
  ['runs of sub-agents', total(({ exercised }) => exercised.sub_agents)],
  ['handoffs', total(({ exercised }) => exercised.handoffs)],
  ['decisions of people', total(({ exercised }) => exercised.decisions)],
  ['forks', total(({ exercised }) => exercised.forks)],
  ['waits for a limit', total(({ exercised }) => exercised.delays)],
  ['model calls under a limit', added('limited_calls')],
  ['odd answers of a provider', added('odd_answers')],
  ['runs of schedules', added('slots')],
  ['waits for events and times', added('waits')],
  ['events at webhooks', added('webhook_events')],
  ['failed requests to webhooks', added('webhook_failures')],
  ['model calls answered', total((report) => report.model_calls)],
  ['model calls lost and made again', total((report) => report.lost_model_calls)],
  ['tool calls', total((report) => report.tool_calls)],
  ['operations in the histories', total((report) => report.operations)],
  ['lost', total((report) => report.lost)],
  ['duplicated', total((report) => report.duplicated)],
  ['finished tools repeated', total((report) => report.finished_tools_repeated)],
  ['late starts by frozen workers', total((report) => report.late_starts)],
  ['orphan calls', total((report) => report.orphan_calls)],
  ['hung', total((report) => report.hung)],
  ['violations of any kind', total((report) => report.violations.length)],
  ['recovery p50 of the slowest campaign, ms', (all) => number(most(all, (report) => report.recovery_ms.p50))],
  ['recovery p95 of the slowest campaign, ms', (all) => number(most(all, (report) => report.recovery_ms.p95))],
  ['recovery max, ms', (all) => number(most(all, (report) => report.recovery_ms.max))],
  ['seeds', seeds],
];

/** The figures as rows of a table, a column for each queue with the sums of its campaigns. */
export function campaignRows(reports: readonly CampaignReport[]): string[][] {
  const columns = (['postgres', 'redis'] as const)
    .map((queue) => reports.filter((report) => report.queue === queue))
    .filter((campaigns) => campaigns.length > 0);
  const header = columns.map(([first]) => `queue in ${first!.queue === 'redis' ? 'Redis' : 'PostgreSQL'}`);
  const rows = figures.flatMap(([name, value]) => {
    const cells = columns.map((campaigns) => value(campaigns));
    return cells.every((cell) => cell === undefined) ? [] : [[name, ...cells.map((cell) => cell ?? '')]];
  });
  return [['', ...header], ...rows];
}

/** The campaigns in a file that has a line of JSON for each; empty if there is no such file. */
export async function readCampaigns(file: string): Promise<CampaignReport[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return campaignsIn(text);
}

/** The last line is empty, or was cut off when its process was killed. */
const campaignsIn = (text: string): CampaignReport[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => parseJson(line) as CampaignReport);

/** Prepares a file for more campaigns: creates it if it is missing, and removes a last line that was cut off. */
export async function openLog(file: string): Promise<CampaignReport[]> {
  await appendFile(file, '');
  const text = await readFile(file, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole !== text) await writeFile(file, whole);
  return campaignsIn(whole);
}

export const appendCampaign = (file: string, report: CampaignReport): Promise<void> =>
  appendFile(file, `${JSON.stringify(report)}\n`);

export interface PlannedCampaign {
  queue: Backend;
  seed: number;
  scenarios: number;
}

/** Divides scenarios into campaigns: for each seed, one on each queue. */
export function planCampaigns(wanted: {
  queues: readonly Backend[];
  seed: number;
  campaigns: number;
  scenarios: number;
}): PlannedCampaign[] {
  const { queues, seed, campaigns, scenarios } = wanted;
  const count = queues.length * campaigns;
  return Array.from({ length: count }, (_, i) => ({
    queue: queues[i % queues.length]!,
    seed: seed + Math.floor(i / queues.length),
    scenarios: Math.max(1, Math.ceil((scenarios - i) / count)),
  }));
}
