//! What stands where something will be; it appears only when that takes a while.

export function Skeleton() {
  return (
    <div className="skeleton" aria-hidden="true">
      <i />
      <i />
      <i />
    </div>
  );
}
