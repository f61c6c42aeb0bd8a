//! Numbers, money, durations and times, as a language writes them.

import type { Usage } from "../proto";

export class Format {
  #language: string;
  #number: Intl.NumberFormat;
  #short: Intl.NumberFormat;
  #money: Intl.NumberFormat;
  #pennies: Intl.NumberFormat;
  #clock: Intl.DateTimeFormat;
  #seconds: Intl.DateTimeFormat;
  #day: Intl.DateTimeFormat;
  #date: Intl.DateTimeFormat;
  #whole: Intl.DateTimeFormat;
  #list: Intl.ListFormat;
  #units: Record<"second" | "minute" | "hour" | "millisecond", Intl.NumberFormat>;

  constructor(language: string) {
    this.#language = language;
    const money = { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol" } as const;
    this.#number = new Intl.NumberFormat(language);
    this.#short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
    this.#money = new Intl.NumberFormat(language, money);
    this.#pennies = new Intl.NumberFormat(language, { ...money, maximumSignificantDigits: 2 });
    this.#clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    this.#seconds = new Intl.DateTimeFormat(language, { timeStyle: "medium", hourCycle: "h23" });
    this.#day = new Intl.DateTimeFormat(language, { weekday: "long", day: "numeric", month: "long" });
    this.#date = new Intl.DateTimeFormat(language, { day: "numeric", month: "short" });
    this.#whole = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" });
    this.#list = new Intl.ListFormat(language);
    const unit = (unit: string, digits = 0) =>
      new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: digits });
    this.#units = {
      millisecond: unit("millisecond"),
      second: unit("second", 1),
      minute: unit("minute"),
      hour: unit("hour"),
    };
  }

  count(count: number): string {
    return this.#number.format(count);
  }

  /** A size, such as `1.4 MB`. */
  bytes(bytes: number): string {
    const [size, unit] =
      bytes < 1000 ? [bytes, "byte"] : bytes < 1e6 ? [bytes / 1e3, "kilobyte"] : [bytes / 1e6, "megabyte"];
    const style = { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: size < 10 ? 1 : 0 } as const;
    return new Intl.NumberFormat(this.#language, style).format(size);
  }

  /** Names, such as `root and coder-1`. */
  list(names: readonly string[]): string {
    return this.#list.format(names);
  }

  /** Tokens, such as `97k`. */
  tokens(count: number): string {
    return this.#short.format(count).toLowerCase().replace("m", "M");
  }

  cost(cost: number): string {
    return cost > 0 && cost < 0.01 ? this.#pennies.format(cost) : this.#money.format(cost);
  }

  /** What was spent, or nothing where no price is known. */
  spent(usage: Usage): string | undefined {
    return usage.cost === undefined ? undefined : this.cost(usage.cost);
  }

  duration(ms: number): string {
    if (ms < 1000) return this.#units.millisecond.format(Math.round(ms));
    const seconds = ms / 1000;
    if (seconds < 10) return this.#units.second.format(seconds);
    if (seconds < 60) return this.#units.second.format(Math.round(seconds));
    const minutes = Math.floor(seconds / 60);
    if (minutes < 60) {
      const rest = Math.round(seconds % 60);
      const whole = this.#units.minute.format(minutes);
      return minutes < 10 && rest > 0 ? `${whole} ${this.#units.second.format(rest)}` : whole;
    }
    const rest = minutes % 60;
    const whole = this.#units.hour.format(Math.floor(minutes / 60));
    return rest === 0 ? whole : `${whole} ${this.#units.minute.format(rest)}`;
  }

  /** A clock that runs, such as `0:14`. */
  ticking(ms: number): string {
    const seconds = Math.max(0, Math.floor(ms / 1000));
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }

  clock(ms: number): string {
    return this.#clock.format(ms);
  }

  seconds(ms: number): string {
    return this.#seconds.format(ms);
  }

  day(ms: number): string {
    return this.#day.format(ms);
  }

  /** A day in short, such as `3 Nov`. */
  date(ms: number): string {
    return this.#date.format(ms);
  }

  whole(ms: number): string {
    return this.#whole.format(ms);
  }
}
