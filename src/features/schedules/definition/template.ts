import { fillPlaceholders, placeholdersIn } from '../../../base/common/placeholders.ts';

/** The moments that a template may name. */
export interface SlotTimes {
  slot: Date;
  /** The slot before it; the slot itself if it is the first. */
  previous: Date;
  timeZone: string;
}

const placeholders = {
  slot: ({ slot, timeZone }: SlotTimes) => isoIn(slot, timeZone),
  date: ({ slot, timeZone }: SlotTimes) => isoIn(slot, timeZone).slice(0, 10),
  time: ({ slot, timeZone }: SlotTimes) => isoIn(slot, timeZone).slice(11, 16),
  previous: ({ previous, timeZone }: SlotTimes) => isoIn(previous, timeZone),
} satisfies Record<string, (times: SlotTimes) => string>;

export const placeholderNames = Object.keys(placeholders);

/** The first `{{name}}` of a text that is not a known placeholder. */
export const unknownPlaceholder = (text: string): string | undefined =>
  placeholdersIn(text).find((name) => !Object.hasOwn(placeholders, name));

/** A text with the times of a slot. Each is written once, however often the text names it: a time zone takes a while. */
export function fillIn(text: string, times: SlotTimes): string {
  const known = new Map<string, string>();
  return fillPlaceholders(text, (name) => {
    if (!Object.hasOwn(placeholders, name)) return undefined;
    const value = known.get(name) ?? placeholders[name as keyof typeof placeholders](times);
    known.set(name, value);
    return value;
  });
}

/** ISO 8601 with the offset of the zone, such as `2026-11-25T09:00:00+01:00`. */
function isoIn(at: Date, timeZone: string): string {
  const parts = Object.fromEntries(
    new Intl.DateTimeFormat('en-GB', {
      timeZone,
      hourCycle: 'h23',
      timeZoneName: 'longOffset',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    })
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  ) as Record<Intl.DateTimeFormatPartTypes, string>;
  const { year, month, day, hour, minute, second, timeZoneName } = parts;
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${timeZoneName === 'GMT+00:00' ? 'Z' : timeZoneName.replace('GMT', '')}`;
}
