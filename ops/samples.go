package ops

// samplePeople are the people of the demo, in the order of their arrival.
var samplePeople = []struct {
	handle, name, bio string
	follows           []string
}{
	{"ada", "Ada Lovelace", "Notes on engines that do not exist yet.", []string{"grace", "alan", "katherine", "radia", "barbara", "donald"}},
	{"grace", "Grace Hopper", "A ship in port is safe, but that is not what ships are built for.", []string{"ada", "alan", "jean", "margaret"}},
	{"alan", "Alan Turing", "We can only see a short distance ahead.", []string{"ada", "grace", "claude", "barbara"}},
	{"katherine", "Katherine Johnson", "Counted everything. Then checked it.", []string{"margaret", "ada", "grace"}},
	{"radia", "Radia Perlman", "I think that I shall never see a graph more lovely than a tree.", []string{"barbara", "donald", "ada"}},
	{"barbara", "Barbara Liskov", "What can be replaced, and by what.", []string{"ada", "radia", "edsger", "tony"}},
	{"donald", "Donald Knuth", "Beware of bugs in the above code.", []string{"edsger", "tony", "ada", "grace"}},
	{"margaret", "Margaret Hamilton", "Software engineering, before it had the name.", []string{"katherine", "grace"}},
	{"edsger", "Edsger Dijkstra", "Simplicity is prerequisite for reliability.", []string{"tony", "donald"}},
	{"tony", "Tony Hoare", "Sorry about null.", []string{"edsger", "barbara"}},
	{"claude", "Claude Shannon", "Juggling, unicycles, information.", []string{"alan", "ada"}},
	{"jean", "Jean Bartik", "Programmed the machine from its wiring diagrams.", []string{"grace", "margaret"}},
}

// sampleBlogs are the blogs of the demo, oldest first.
var sampleBlogs = []struct{ author, title, content string }{
	{"edsger", "On counting from zero", "Half-open intervals make the length the difference of the bounds. Everything else is bookkeeping."},
	{"grace", "Nanoseconds to take home", "Thirty centimetres of wire. Hand one to everybody who asks why the satellite is slow."},
	{"ada", "Note G, second thoughts", "The engine has no pretensions to originate anything. It does whatever we know how to order it to perform."},
	{"alan", "A test for conversation", "If you cannot tell from the answers, it is hard to say what else you wanted to know."},
	{"katherine", "Going back is the harder half", "A launch window is a number. A landing spot is a number and a fleet of ships."},
	{"radia", "A protocol in a poem", "First, the root must be selected. By id, it is elected."},
	{"tony", "What my mistake cost", "It was easy to implement. That should have been the warning."},
	{"barbara", "Replaceable parts", "If code that works with the general thing breaks with the special thing, the special thing is not one."},
	{"donald", "Literate programs", "Write for a person first; the compiler will follow along."},
	{"claude", "A machine that switches itself off", "It is the most philosophical thing on my desk."},
	{"margaret", "Priorities, on the way down", "The computer threw away what mattered less and kept what mattered. That was designed."},
	{"jean", "Debugging with lights", "When every bit has a lamp, you learn to read a room."},
	{"grace", "It is easier to ask forgiveness", "Most of what we were told could not be done had not been tried."},
	{"alan", "Morphogenesis", "Stripes and spots may need less explaining than we feared."},
	{"katherine", "Check the computer", "They asked me to run the numbers by hand before the flight. They agreed."},
	{"edsger", "Testing shows the presence of bugs", "Never their absence. Choose your proofs accordingly."},
	{"radia", "Bridges, not routers", "Two boxes, no configuration, no loops. Plug and go home."},
	{"barbara", "Abstraction is forgetting well", "Good modules remember for you what you do not need to know."},
	{"ada", "Poetical science", "Imagination discovers; the engine weaves."},
	{"donald", "Premature optimisation", "Forget small efficiencies ninety-seven times in a hundred. Do not pass up the other three."},
	{"tony", "Two ways of design", "So simple that there are obviously no faults, or so complicated that there are no obvious ones."},
	{"claude", "Bits", "How surprised were you? That is how much I told you."},
	{"margaret", "The manual said it could not happen", "So I put in a check for it. Then it happened."},
	{"grace", "Compilers, and other heresies", "Nobody believed that a machine could write programs. I had one running."},
	{"alan", "Halting, briefly", "Ask a program about itself and watch what it does not say."},
	{"katherine", "Everything is physics and maths", "The rest is finding out which part of it you forgot."},
	{"radia", "Trust, but hash", "A network is a set of strangers who agree to be polite."},
	{"barbara", "Iterators", "Let the collection say how it is walked."},
	{"donald", "A reward for every error", "One hexadecimal dollar. Few are cashed."},
	{"grace", "Hello, Kith", "A feed that is exact, a count that equals its list. I approve."},
}
