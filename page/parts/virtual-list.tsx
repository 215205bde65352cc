import { useSignal } from '@preact/signals';
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import type { ComponentChild, RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';

const nearEndPx = 120;

/** Handlers use the event's element, because the ref may already be empty when the last event arrives. */
type ListEvent = { currentTarget: HTMLElement };

/**
 * A list in a scrolling box, with only the visible items in the document. A reader at its end stays there as it grows;
 * a reader further up keeps their position, also when earlier items are added.
 */
export function VirtualList<T>({
  label,
  items,
  keyOf,
  render,
}: {
  label: string;
  items: T[];
  keyOf: (item: T) => string;
  render: (item: T) => ComponentChild;
}) {
  const box = useRef<HTMLDivElement>(null);
  const version = useSignal(0);
  const keys = items.map(keyOf);
  const list = useMemo(
    () =>
      new Virtualizer<HTMLDivElement, HTMLElement>({
        count: 0,
        getScrollElement: () => box.current,
        estimateSize: () => 120,
        observeElementRect,
        observeElementOffset,
        scrollToFn: elementScroll,
        overscan: 8,
        onChange: () => {
          version.value += 1;
        },
      }),
    [],
  );
  list.setOptions({ ...list.options, count: items.length, getItemKey: (index) => keys[index] ?? index });
  useLayoutEffect(() => list._didMount(), []);
  useLayoutEffect(() => list._willUpdate());
  const handlers = useEnd(list, box, keys);
  void version.value;
  return (
    <div ref={box} class="virtual" role="region" aria-label={label} tabIndex={0} {...handlers}>
      <div class="virtual-inner" style={{ height: `${list.getTotalSize()}px` }} role="list">
        {list.getVirtualItems().map(({ index, key, start }) => (
          <div
            key={key as string}
            data-index={index}
            role="listitem"
            ref={(element) => list.measureElement(element)}
            style={{ transform: `translateY(${start}px)` }}
          >
            {items[index] === undefined ? null : render(items[index])}
          </div>
        ))}
      </div>
    </div>
  );
}

/** Keeps a reader at the end of a list there, and a reader further up where they are. */
function useEnd(list: Virtualizer<HTMLDivElement, HTMLElement>, box: RefObject<HTMLDivElement | null>, keys: string[]) {
  const atEnd = useRef(true);
  const first = useRef(keys[0]);
  // A control with `data-stays` shows other items after its own; its own place stays in view. 2: it was used, 1: they are shown.
  const stays = useRef(0);
  const onClickCapture = ({ target }: Event) => {
    if ((target as Element).closest('[data-stays] button')) stays.current = 2;
  };
  useLayoutEffect(() => {
    stays.current = Math.max(0, stays.current - 1);
    if (stays.current > 0) return;
    const added = first.current === undefined ? -1 : keys.indexOf(first.current);
    first.current = keys[0];
    // a reader who asked for earlier items continues where those end
    if (added > 0) {
      atEnd.current = false;
      list.scrollToIndex(added, { align: 'start' });
    } else if (atEnd.current && keys.length > 0) list.scrollToIndex(keys.length - 1, { align: 'end' });
  }, [keys[0], keys.at(-1), keys.length]);
  // Items are measured after they are drawn, which moves the end: scroll to it in the same frame.
  const total = list.getTotalSize();
  useLayoutEffect(() => {
    if (!box.current) return;
    const { scrollTop, scrollHeight, clientHeight } = box.current;
    if (stays.current > 0) atEnd.current = scrollHeight - scrollTop - clientHeight <= 1;
    else if (atEnd.current) box.current.scrollTop = scrollHeight;
  }, [total]);
  // Only scrolling up leaves the end. The end also moves away when items are higher than estimated.
  const top = useRef(0);
  const onScrollCapture = ({ currentTarget: { scrollTop, scrollHeight, clientHeight } }: ListEvent) => {
    const left = scrollHeight - scrollTop - clientHeight;
    const up = scrollTop < top.current;
    if (left <= 1 || (left < nearEndPx && !up)) atEnd.current = true;
    else if (up) atEnd.current = false;
    top.current = scrollTop;
  };
  // Focusing an item above the end stops the list from following it.
  const onFocusIn = ({ currentTarget: { scrollTop, scrollHeight, clientHeight } }: ListEvent) => {
    if (scrollHeight - scrollTop - clientHeight >= nearEndPx) atEnd.current = false;
  };
  return { onScrollCapture, onFocusIn, onClickCapture };
}
