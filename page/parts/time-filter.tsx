import { route, setQuery } from '../state/route.ts';

/** Filters by creation time: ISO 8601 in the address, the reader's time zone in the fields. */
export const TimeFilter = () => (
  <>
    <Moment name="created_after" label="Since" />
    <Moment name="created_before" label="Before" />
  </>
);

const Moment = ({ name, label }: { name: string; label: string }) => (
  <label class="when">
    <span>{label}</span>
    <input
      type="datetime-local"
      value={local(route.value.query.get(name) ?? '')}
      onChange={({ currentTarget: { value } }) =>
        setQuery({ [name]: value ? new Date(value).toISOString() : undefined })
      }
    />
  </label>
);

function local(at: string): string {
  const ms = Date.parse(at);
  return Number.isNaN(ms) ? '' : new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
