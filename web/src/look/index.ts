//! The look: tokens, then parts, then rooms.

import "./tokens.css";
import "./base.css";
import "./frame.css";
import "./track.css";
import "./code.css";
import "./diff.css";
import "./asked.css";
import "./changes.css";
import "./inspect.css";
import "./dialog.css";
import "./agents.css";
import "./flow.css";
import "./tasks.css";
import "./settings.css";
import "./plugged.css";
import "./models.css";
import "./usage.css";
import "./narrow.css";
