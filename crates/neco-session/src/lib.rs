//! Many agents, one session: the actor, the hub, resume.
