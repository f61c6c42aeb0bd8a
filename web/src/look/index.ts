//! The look: tokens, then parts, then rooms.

import "./tokens.css";
import "./base.css";
import "./frame.css";
import "./track.css";
import "./diff.css";
import "./asked.css";
import "./changes.css";
import "./inspect.css";
import "./dialog.css";
import "./narrow.css";
