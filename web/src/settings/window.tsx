//! What is this browser's own: how the page looks, whether it calls, and whether letters do something.

import {
  Icon,
  otherLanguage,
  THEMES,
  type Theme,
  useKeyOf,
  useLanguage,
  useLetters,
  useTheme,
  useWish,
} from "../parts";
import { signOut } from "../wire";
import { LANGUAGES, useWords, WORDS } from "../words";
import { Switch } from "./acts";

export function Looks() {
  const words = useWords().settings.looks;
  const [theme, setTheme] = useTheme();
  const [language, setLanguage] = useLanguage();
  return (
    <section className="block-of">
      <h2>{words.title}</h2>
      <p className="lead">{words.lead}</p>
      <Line title={words.theme} what={words.themeIs}>
        <div className="seg" role="radiogroup" aria-label={words.theme}>
          {THEMES.map((each: Theme) => (
            // biome-ignore lint/a11y/useSemanticElements: it is one of few, in a row
            <button key={each} type="button" role="radio" aria-checked={theme === each} onClick={() => setTheme(each)}>
              {words.themes[each]}
            </button>
          ))}
        </div>
      </Line>
      <Line title={words.language} what={words.languageIs}>
        <div className="seg" role="radiogroup" aria-label={words.language}>
          {LANGUAGES.map((each) => (
            // biome-ignore lint/a11y/useSemanticElements: it is one of few, in a row
            <button
              key={each}
              type="button"
              role="radio"
              lang={each === "zh" ? "zh-Hans" : "en"}
              aria-checked={language === each}
              onClick={() => setLanguage(each)}
            >
              {/* What one language calls the other is its name. */}
              {WORDS[otherLanguage(each)].otherLanguage}
            </button>
          ))}
        </div>
      </Line>
      <Line title={words.browser} what={words.browserIs}>
        <button type="button" className="btn" onClick={() => void signOut().then(() => location.assign("/"))}>
          <Icon name="key" small />
          {useWords().signOut}
        </button>
      </Line>
    </section>
  );
}

export function Notices() {
  const words = useWords().settings.notices;
  const { wants, isPossible, isRefused, set } = useWish();
  return (
    <section className="block-of">
      <h2>{words.title}</h2>
      <Line title={words.browser} what={isPossible ? (isRefused ? words.refused : words.browserIs) : words.impossible}>
        <Switch label={words.browser} isOn={wants} disabled={!isPossible || isRefused} onSwitch={set} />
      </Line>
      <p className="dim">{words.others}</p>
    </section>
  );
}

export function Keyboard() {
  const all = useWords();
  const words = all.settings.keyboard;
  const [areOn, setOn] = useLetters();
  return (
    <section className="block-of">
      <h2>{words.title}</h2>
      <Line title={words.letters} what={words.lettersAre}>
        <Switch label={words.letters} isOn={areOn} onSwitch={setOn} />
      </Line>
      <p className="dim">{words.all(useKeyOf("help"), useKeyOf("palette"))}</p>
    </section>
  );
}

function Line({ title, what, children }: { title: string; what: string; children: React.ReactNode }) {
  return (
    <div className="setting">
      <div className="about-it">
        <h3>{title}</h3>
        <p className="mid">{what}</p>
      </div>
      <div className="set-it">{children}</div>
    </div>
  );
}
