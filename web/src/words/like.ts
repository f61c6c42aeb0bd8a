//! What another language has where English has this: the same words, each of them some text.

export type Like<T> = T extends string
  ? string
  : T extends (...given: infer G) => string
    ? (...given: G) => string
    : { readonly [K in keyof T]: Like<T[K]> };
