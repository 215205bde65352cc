import type { ProviderFailure, ProviderOutcome } from '../../../agent/models/failure.ts';
import type { CircuitReport, ProbeReport } from '../store/circuits.ts';

interface Counted {
  ok: number;
  failed: number;
  waitMs?: number;
  reason?: ProviderFailure;
}

/** What a worker has counted and not reported yet, and its probes. */
export class Tally {
  readonly #counts = new Map<string, Counted>();
  readonly #probes = new Map<string, ProbeReport>();

  /** Counts an outcome. Returns whether it says that the provider fails. */
  count(model: string, outcome: ProviderOutcome | undefined): boolean {
    if (!outcome) return false;
    if (outcome === 'ok') {
      this.#of(model).ok += 1;
      return false;
    }
    const { failure, waitMs } = outcome;
    // a rate limit of which the provider does not say when it ends is one that retries get past
    if (failure === 'rate_limited' && waitMs === undefined) return false;
    const counted = this.#of(model);
    counted.failed += 1;
    counted.reason = failure;
    if (waitMs !== undefined) counted.waitMs = Math.max(counted.waitMs ?? 0, waitMs);
    return true;
  }

  beginProbe(model: string, probe: string): void {
    this.#probes.set(probe, { model, probe, outcome: 'goes on' });
  }

  endProbe(model: string, probe: string, outcome: ProviderOutcome | undefined): void {
    if (typeof outcome !== 'object') return void this.#probes.set(probe, { model, probe, outcome: outcome ?? 'lost' });
    const { failure: reason, waitMs } = outcome;
    const wait = waitMs === undefined ? {} : { wait_ms: waitMs };
    this.#probes.set(probe, { model, probe, outcome: 'failed', reason, ...wait });
  }

  /** Takes what there is to report. A probe that goes on is reported until it ends. */
  take(): CircuitReport[] {
    const counts = [...this.#counts].map(([model, { ok, failed, waitMs, reason }]): CircuitReport => ({
      model,
      ok,
      failed,
      ...(waitMs === undefined ? {} : { wait_ms: waitMs }),
      ...(reason === undefined ? {} : { reason }),
    }));
    const probes = [...this.#probes.values()];
    this.#counts.clear();
    for (const report of probes) if (report.outcome !== 'goes on') this.#probes.delete(report.probe);
    return [...probes, ...counts];
  }

  /** Puts back what could not be reported. */
  restore(reports: readonly CircuitReport[]): void {
    for (const report of reports) {
      if ('probe' in report) this.#probes.set(report.probe, report);
      else {
        const counted = this.#of(report.model);
        counted.ok += report.ok;
        counted.failed += report.failed;
        counted.reason ??= report.reason!;
        if (report.wait_ms !== undefined) counted.waitMs ??= report.wait_ms;
      }
    }
  }

  #of(model: string): Counted {
    const known = this.#counts.get(model);
    if (known) return known;
    const counted = { ok: 0, failed: 0 };
    this.#counts.set(model, counted);
    return counted;
  }
}
