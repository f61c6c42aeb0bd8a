//! The remarks of a session that were not sent yet, and what becomes of them.

import { useMemo, useState } from "react";
import { draftOf, remarksOf, store, stored, useStored } from "../parts";
import { useSession } from "../wire";
import { useWords } from "../words";
import { keptOf, messageOf, type Place, type Remark, remarksIn, withRemark } from "./remarks";

/** Where something is being written, and of which line. */
export type Writing = { place: Place; quoted: string; remark?: Remark };

export function useRemarks() {
  const words = useWords().review.remark;
  const session = useSession();
  const [kept, setKept] = useStored(remarksOf(session.id));
  const remarks = useMemo(() => remarksIn(kept), [kept]);
  const [writing, setWriting] = useState<Writing>();
  const told = (remarks: readonly Remark[]) => messageOf(remarks, words);
  const drop = (remark: Remark) => setKept(keptOf(remarks.filter(({ id }) => id !== remark.id)));
  return {
    remarks,
    writing,
    write: setWriting,
    save: (text: string) => {
      if (writing === undefined) return;
      const { place, quoted, remark } = writing;
      const id = remark?.id ?? `${Date.now().toString(36)}${remarks.length}`;
      setWriting(undefined);
      if (text.trim() !== "") setKept(keptOf(withRemark(remarks, { ...place, id, quoted, text: text.trim() })));
      else if (remark !== undefined) drop(remark);
    },
    drop,
    /** All of them go back as one message. */
    send: () => {
      session.say(told(remarks), "now");
      setKept(null);
    },
    /** One goes along with what is written next. */
    next: (remark: Remark) => {
      const draft = stored(draftOf(session.id)) ?? "";
      store(
        draftOf(session.id),
        draft.trim() === "" ? `${told([remark])}\n\n` : `${draft.trimEnd()}\n\n${told([remark])}\n\n`,
      );
      drop(remark);
    },
  };
}

export type Remarks = ReturnType<typeof useRemarks>;
