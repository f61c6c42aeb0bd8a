//! One of a few, side by side: arrows move between them, as between radio buttons everywhere.

type Given<T extends string> = {
  label: string;
  value: T;
  options: readonly { value: T; label: string; disabled?: boolean }[];
  onPick: (value: T) => void;
};

export function Seg<T extends string>({ label, value, options, onPick }: Given<T>) {
  const able = options.filter(({ disabled }) => !disabled);
  return (
    <div className="seg" role="radiogroup" aria-label={label}>
      {options.map((option) => (
        // biome-ignore lint/a11y/useSemanticElements: a button that looks pressed is what is meant
        <button
          key={option.value}
          type="button"
          role="radio"
          aria-checked={option.value === value}
          disabled={option.disabled}
          tabIndex={option.value === value ? 0 : -1}
          onClick={() => onPick(option.value)}
          onKeyDown={(event) => {
            const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
            const at = able.findIndex((each) => each.value === option.value);
            const next = by === 0 ? undefined : able[(at + by + able.length) % able.length];
            if (next === undefined) return;
            event.preventDefault();
            onPick(next.value);
            const all = event.currentTarget.parentElement?.querySelectorAll("button");
            all?.[options.indexOf(next)]?.focus();
          }}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}
