import type { Activity } from '../../api/types.ts';
import { Empty, Time } from '../../parts/basics.tsx';
import { amount, duration, fullTime, price } from '../../parts/format.ts';
import { href, route, setQuery } from '../../state/route.ts';
import { icons, kinds } from '../marks/marks.tsx';
import { Chart, type Line } from './chart.tsx';
import { allSlots, endOf, runsOf, sumOf, timeOf, type Asked, type Slot } from './slots.ts';

interface Props {
  now: Activity;
  asked: Asked;
}

/** Runs, marks, tokens, money and waiting over time, as charts or as a table. */
export function OverTime({ now, asked }: Props) {
  const slots = allSlots(now);
  const asTable = route.value.query.get('as') === 'table';
  return (
    <section aria-labelledby="over-time">
      <div class="heading">
        <h2 id="over-time">Over time</h2>
        <div class="actions">
          <button type="button" aria-pressed={asTable} onClick={() => setQuery({ as: asTable ? undefined : 'table' })}>
            As a table
          </button>
        </div>
      </div>
      {now.slots.length === 0 ? (
        <Empty>No run was accepted in this period.</Empty>
      ) : asTable ? (
        <Table now={now} asked={asked} />
      ) : (
        <Charts now={now} asked={asked} slots={slots} />
      )}
      <Deploys now={now} />
    </section>
  );
}

const money = (cost: number): string => (cost === 0 ? '$0' : price({ cost, unpriced_tokens: 0 }));
const runs = (value: number): string => amount(Math.round(value * 10) / 10);

function Charts({ now, asked, slots }: Props & { slots: Slot[] }) {
  const shared = {
    times: slots.map(({ at }) => timeOf(at, now)),
    lines: linesOf(now),
    linkOf: (slot: number, query?: Record<string, string>) =>
      runsOf(asked, slots[slot]!.at, endOf(slots[slot]!, now), query),
  };
  const of = (value: (slot: Slot) => number) => slots.map(value);
  const whole = (query: Record<string, string>) => runsOf(asked, now.since, undefined, query);
  const failed = sumOf(slots, (slot) => slot.failed);
  const unanswered = sumOf(slots, (slot) => slot.unanswered);
  const waits = of((slot) => slot.wait_p95_ms ?? 0);
  return (
    <div class="charts">
      <Chart
        title="Runs"
        sum={
          <>
            {amount(sumOf(slots, (slot) => slot.runs))}
            {failed > 0 && (
              <>
                , <a href={whole({ status: 'failed' })}>{amount(failed)} failed</a>
              </>
            )}
            {unanswered > 0 && (
              <>
                , <a href={whole({ answered: 'false', status: 'completed' })}>{amount(unanswered)} without an answer</a>
              </>
            )}
          </>
        }
        parts={[
          { label: 'failed', colour: 'bad', values: of((slot) => slot.failed), query: { status: 'failed' } },
          {
            label: 'without an answer',
            colour: 'wait',
            values: of((slot) => slot.unanswered),
            query: { answered: 'false', status: 'completed' },
          },
          {
            label: 'others',
            colour: 'accent',
            values: of((slot) => slot.runs - slot.failed - slot.unanswered),
          },
        ]}
        words={runs}
        whole
        {...shared}
      />
      <Chart
        title="Waiting for a start"
        sum={`95 % within ${duration(Math.max(...waits))} at worst`}
        layered
        parts={[
          { label: 'for 95 %', colour: 'muted', values: waits },
          { label: 'for half', colour: 'accent', values: of((slot) => slot.wait_p50_ms ?? 0) },
        ]}
        words={duration}
        {...shared}
      />
      <Chart
        title="Tokens"
        sum={`${amount(sumOf(slots, (slot) => slot.input_tokens))} in (${amount(sumOf(slots, (slot) => slot.cached_tokens))} cached), ${amount(sumOf(slots, (slot) => slot.output_tokens))} out`}
        parts={[
          { label: 'in', colour: 'accent', values: of((slot) => Math.max(0, slot.input_tokens - slot.cached_tokens)) },
          { label: 'in, cached', colour: 'muted', values: of((slot) => slot.cached_tokens) },
          { label: 'out', colour: 'good', values: of((slot) => slot.output_tokens) },
        ]}
        words={runs}
        whole
        {...shared}
      />
      <Chart
        title="Cost"
        sum={costWords(slots)}
        parts={[{ label: 'at list prices', colour: 'accent', values: of((slot) => slot.cost) }]}
        words={money}
        {...shared}
      />
      <MarkCharts now={now} asked={asked} slots={slots} />
    </div>
  );
}

function costWords(slots: Slot[]): string {
  const cost = sumOf(slots, (slot) => slot.cost);
  const unpriced = sumOf(slots, (slot) => slot.unpriced_tokens);
  // without any known price, the cost is unknown, not 0
  if (cost === 0 && unpriced > 0) return `Unpriced: ${amount(unpriced)} tokens of models without a known price`;
  return unpriced > 0 ? `${money(cost)}, without ${amount(unpriced)} tokens that have no known price` : money(cost);
}

/** The lines of new versions, in slots from the left. */
function linesOf({ deploys, since, slot_minutes: minutes }: Activity): Line[] {
  return deploys.map(({ at, agent, version, label }) => ({
    at: (Date.parse(at) - Date.parse(since)) / (minutes * 60_000),
    label: `${agent} ${label ?? version.slice(0, 8)}`,
  }));
}

/** A row of bars for each kind of mark, the most frequent first. */
function MarkCharts({ now, asked, slots }: Props & { slots: Slot[] }) {
  const sums = new Map<string, number>();
  for (const { marks } of slots) for (const { mark, runs: n } of marks) sums.set(mark, (sums.get(mark) ?? 0) + n);
  const found = [...sums].toSorted(([, a], [, b]) => b - a);
  if (found.length === 0) return null;
  return (
    <div class="mark-charts">
      <h3>Runs with marks</h3>
      {found.map(([mark, sum]) => {
        const [tone, one] = kinds[mark] ?? ['note', mark];
        const colour = tone === 'bad' ? 'bad' : tone === 'warn' ? 'wait' : 'accent';
        return (
          <Chart
            key={mark}
            small
            title={one}
            sum={
              <a href={runsOf(asked, now.since, undefined, { mark })}>
                <span aria-hidden="true">{icons[tone]}</span> {amount(sum)}
              </a>
            }
            parts={[
              { label: one, colour, values: slots.map(({ marks }) => marks.find((of) => of.mark === mark)?.runs ?? 0) },
            ]}
            times={slots.map(({ at }) => timeOf(at, now))}
            lines={linesOf(now)}
            words={runs}
            linkOf={(slot) => runsOf(asked, slots[slot]!.at, endOf(slots[slot]!, now), { mark })}
          />
        );
      })}
    </div>
  );
}

/** The same in numbers, newest first. */
function Table({ now, asked }: Props) {
  const link = (slot: Slot, n: number, query: Record<string, string> = {}) =>
    n === 0 ? '0' : <a href={runsOf(asked, slot.at, endOf(slot, now), query)}>{amount(n)}</a>;
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label="Over time, as a table">
      <table class="list">
        <thead>
          <tr>
            <th scope="col">From</th>
            <NumberHeads
              titles={[
                'Runs',
                'Failed',
                'No answer',
                'Not ended',
                'Tokens in',
                'Tokens out',
                'Cost',
                'Wait p50',
                'Wait p95',
              ]}
            />
            <th scope="col">Marks</th>
          </tr>
        </thead>
        <tbody>
          {now.slots.toReversed().map((slot) => (
            <tr key={slot.at}>
              <th scope="row" title={fullTime(slot.at)}>
                {timeOf(slot.at, now)}
              </th>
              <td data-label="runs" class="num">
                {link(slot, slot.runs)}
              </td>
              <td data-label="failed" class="num">
                {link(slot, slot.failed, { status: 'failed' })}
              </td>
              <td data-label="no answer" class="num">
                {link(slot, slot.unanswered, { answered: 'false', status: 'completed' })}
              </td>
              <td data-label="not ended" class="num">
                {amount(slot.unfinished)}
              </td>
              <td data-label="in" class="num">
                {amount(slot.input_tokens)}
              </td>
              <td data-label="out" class="num">
                {amount(slot.output_tokens)}
              </td>
              <td class="num">{slot.unpriced_tokens > 0 && slot.cost === 0 ? 'unpriced' : money(slot.cost)}</td>
              <td data-label="p50" class="num">
                {slot.wait_p50_ms === null ? '–' : duration(slot.wait_p50_ms)}
              </td>
              <td data-label="p95" class="num">
                {slot.wait_p95_ms === null ? '–' : duration(slot.wait_p95_ms)}
              </td>
              <td>
                {slot.marks.map(({ mark, runs: n }) => (
                  <span key={mark} class="marked">
                    {link(slot, n, { mark })} {kinds[mark]?.[1] ?? mark}
                  </span>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The new versions of the period, newest first; each leads to what it did. */
function Deploys({ now: { deploys } }: { now: Activity }) {
  const query = Object.fromEntries(route.value.query);
  if (deploys.length === 0) return null;
  return (
    <>
      <h3 id="deploys">New versions</h3>
      <ul class="plain deploys" aria-labelledby="deploys">
        {deploys.toReversed().map(({ at, agent, version, label }) => (
          <li key={`${agent} ${version}`}>
            <a href={href('operations', { ...query, agent, version })}>
              {agent} <span class="mono">{label ?? version.slice(0, 8)}</span>
            </a>{' '}
            <Time at={at} />
          </li>
        ))}
      </ul>
    </>
  );
}

const mostVersions = 50;

/** Each agent and version in the whole period: a bad version shows beside the others. */
export function ByVersion({ now, asked }: Props) {
  const query = Object.fromEntries(route.value.query);
  const shown = now.agents.filter(({ agent }) => !asked.agent || agent === asked.agent).slice(0, mostVersions);
  if (shown.length === 0) return null;
  const labels = new Map(now.deploys.map(({ agent, version, label }) => [`${agent} ${version}`, label]));
  return (
    <section aria-labelledby="by-version">
      <h2 id="by-version">By agent and version</h2>
      <div class="scroll-x" tabIndex={0} role="region" aria-label="Table by agent and version">
        <table class="list">
          <thead>
            <tr>
              <th scope="col">Agent</th>
              <th scope="col">Version</th>
              <NumberHeads titles={['Runs', 'Failed', 'No answer', 'Tokens', 'Cost']} />
              <th scope="col">Marks</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => {
              const { agent, version } = row;
              const of = { agent, version: version ?? undefined };
              const link = (n: number, more: Record<string, string> = {}) =>
                n === 0 ? '0' : <a href={runsOf(of, now.since, undefined, more)}>{amount(n)}</a>;
              return (
                <tr key={`${agent} ${version}`}>
                  <th scope="row">
                    <a href={href('operations', { ...query, ...of })}>{agent}</a>
                  </th>
                  <td class="mono" title={version ?? undefined}>
                    {version === null ? '–' : (labels.get(`${agent} ${version}`) ?? version.slice(0, 8))}
                  </td>
                  <td data-label="runs" class="num">
                    {link(row.runs)}
                  </td>
                  <td data-label="failed" class="num">
                    {link(row.failed, { status: 'failed' })}
                  </td>
                  <td data-label="no answer" class="num">
                    {link(row.unanswered, { answered: 'false', status: 'completed' })}
                  </td>
                  <td data-label="tokens" class="num">
                    {amount(row.input_tokens + row.output_tokens)}
                  </td>
                  <td class="num">{row.unpriced_tokens > 0 && row.cost === 0 ? 'unpriced' : money(row.cost)}</td>
                  <td>
                    {row.marks.slice(0, 3).map(({ mark, runs: n }) => (
                      <span key={mark} class="marked">
                        {link(n, { mark })} {kinds[mark]?.[1] ?? mark}
                      </span>
                    ))}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const NumberHeads = ({ titles }: { titles: readonly string[] }) =>
  titles.map((title) => (
    <th key={title} scope="col" class="num">
      {title}
    </th>
  ));
