/** A tab list; arrow keys move between its tabs. */
export function Tabs<T extends string>({
  label,
  group = 'tab',
  tabs,
  current,
  onSelect,
}: {
  label: string;
  /** Prefix of the ids of the tabs, for a page with more than one tab list. */
  group?: string;
  tabs: [T, string][];
  current: T;
  onSelect: (tab: T) => void;
}) {
  const move = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const at = tabs.findIndex(([tab]) => tab === current);
    onSelect(tabs[(at + step + tabs.length) % tabs.length]![0]);
    const list = event.currentTarget as HTMLElement;
    requestAnimationFrame(() => list.querySelector<HTMLElement>('[aria-selected=true]')?.focus());
  };
  return (
    <div role="tablist" aria-label={label} class="tabs" onKeyDown={move}>
      {tabs.map(([tab, title]) => (
        <button
          key={tab}
          type="button"
          role="tab"
          id={`${group}-${tab}`}
          aria-selected={tab === current}
          tabIndex={tab === current ? 0 : -1}
          onClick={() => onSelect(tab)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
