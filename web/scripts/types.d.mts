/** The text of a file with the types of a description. */
export function typesOf(description: unknown): string;
